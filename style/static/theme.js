// Theme before the first paint: ?theme= beats the kept choice, which beats the system's.
(function (root, asked) {
  var kept = null;
  try { kept = localStorage.getItem("theme"); } catch (e) { /* storage may be closed to us */ }
  var system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = asked || kept || system;
})(document.documentElement, new URLSearchParams(location.search).get("theme"));
