// Theme before the first paint: ?theme= beats the kept choice, which beats the system's; and with the system's, should
// that change while the page is open.
(function (root, asked) {
  var kept = null;
  try { kept = localStorage.getItem("theme"); } catch (e) { /* storage may be closed to us */ }
  var dark = matchMedia("(prefers-color-scheme: dark)");
  function follow() { root.dataset.theme = dark.matches ? "dark" : "light"; }
  root.dataset.theme = asked || kept || follow() || root.dataset.theme;
  dark.addEventListener("change", function () {
    try { kept = localStorage.getItem("theme"); } catch (e) { /* storage may be closed to us */ }
    if (!asked && !kept) follow();
  });
})(document.documentElement, new URLSearchParams(location.search).get("theme"));
