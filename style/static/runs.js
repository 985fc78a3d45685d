// The list of runs: takes a run from a file, deletes one when it is asked for twice, and keeps two chosen, no more.
(function () {
  var said = document.getElementById("runs-said");
  function say(text) {
    said.textContent = text;
    said.hidden = false;
  }
  function refusal(response) {
    return response.json().then(
      function (problem) { return problem.title + ": " + (problem.detail || ""); },
      function () { return "The lab answered with status " + response.status + "."; }
    );
  }
  function lost() { say("The lab did not answer. Is it still running?"); }

  document.getElementById("import").addEventListener("change", function (event) {
    var input = event.target, file = input.files[0];
    if (!file) return;
    say("Importing " + file.name + " …");
    fetch("/api/runs/import", { method: "POST", headers: { "content-type": "application/json" }, body: file })
      .then(function (response) {
        if (!response.ok) return refusal(response).then(function (why) { say(file.name + " was not imported. " + why); });
        return response.json().then(function (made) { location.assign("/runs/" + made.run); });
      })
      .catch(lost)
      // The same file may be chosen again.
      .then(function () { input.value = ""; });
  });

  // Two are compared: with a third the first goes.
  var chosen = [];
  document.addEventListener("change", function (event) {
    var box = event.target;
    if (box.name !== "run") return;
    chosen = chosen.filter(function (other) { return other !== box; });
    if (box.checked) chosen.push(box);
    if (chosen.length > 2) chosen.shift().checked = false;
  });

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-delete]");
    if (!button) return;
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.firstChild.textContent = "Delete for good?";
      button.addEventListener("blur", function () {
        delete button.dataset.sure;
        button.firstChild.textContent = "Delete";
      }, { once: true });
      return;
    }
    fetch("/api/runs/" + button.dataset.delete, { method: "DELETE" })
      .then(function (response) {
        if (response.ok || response.status === 404) return location.reload();
        return refusal(response).then(say);
      })
      .catch(lost);
  });
})();
