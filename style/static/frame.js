// What every page needs of keyboard and mouse, with or without a stage: help and the theme.
(function () {
  var help = document.getElementById("help");
  function switchTheme() {
    var root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* storage may be closed to us */ }
  }
  document.getElementById("theme-b").addEventListener("click", switchTheme);
  document.getElementById("help-b").addEventListener("click", function () { help.showModal(); });
  document.getElementById("help-x").addEventListener("click", function () { help.close(); });
  addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest && event.target.closest("input, select, textarea, dialog[open]")) return;
    if (event.key === "?") help.showModal();
    if (event.key === "t") switchTheme();
  });
})();
