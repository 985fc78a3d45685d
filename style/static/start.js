// Plays the start page's recorded run in its own rhythm: uncovers the picture from left to right, and lets each
// sentence appear when it became true. Without this, or where less motion is wanted, everything stands there at once.
(function () {
  var figure = document.getElementById("replay"), again = document.getElementById("again");
  if (!figure.animate || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  var whole = Number(figure.dataset.ms), parts = [];
  function add(element, frames, duration) {
    var part = element.animate(frames, { duration: duration });
    part.pause();
    parts.push(part);
  }
  figure.querySelectorAll(".film").forEach(function (film) {
    var width = film.querySelector("svg").getAttribute("width");
    add(film.querySelector(".reel"), { clipPath: ["inset(0 100% 0 0)", "inset(0 0 0 0)"] }, whole);
    add(film.querySelector(".film-head"), { opacity: [1, 1], transform: ["none", "translateX(" + width + "px)"] }, whole);
  });
  figure.querySelectorAll("[data-at]").forEach(function (line) {
    add(line, { visibility: ["hidden", "hidden"] }, Number(line.dataset.at));
  });
  function play() {
    parts.forEach(function (part) { part.currentTime = 0; part.play(); });
  }
  // It begins when it can be seen.
  new IntersectionObserver(function (seen, observer) {
    if (!seen.some(function (entry) { return entry.isIntersecting; })) return;
    observer.disconnect();
    play();
  }, { threshold: 0.4 }).observe(figure);
  again.hidden = false;
  again.addEventListener("click", play);
})();
