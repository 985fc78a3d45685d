// The lesson without jumps: sends the page's own forms, and puts the parts that changed in place; the stage beside
// them goes on. Tasks are ticked while they are done. Everything works without this, too.
import patch from "/patch.js";

const step = document.querySelector("main.lesson")?.dataset.step;
const AWAY = "The lab does not answer. It may have been ended, or be starting again: this page goes on by itself when it answers.";
let latest = 0, again = null, stream = null;
// What was sent and not answered: nothing is asked for meanwhile that could be older than it.
let posts = 0, wanted = false;
const sent = new Set();
let refusal = false;

function say(text) {
  refusal = false;
  const status = document.getElementById("l-said");
  if (status) status.textContent = text;
}

async function refused(answer) {
  try { const problem = await answer.json(); return problem.detail || problem.title; }
  catch { return `The lab answered with status ${answer.status}.`; }
}

// What is being filled in is not taken away under one's hands.
function filling(part) {
  const inputs = [...part.querySelectorAll("input")];
  return inputs.some(input => input.type === "number" ? input.value !== input.defaultValue : input.checked !== input.defaultChecked);
}

async function put(answer, number, pressed) {
  if (!answer.ok) { sent.clear(); return say(await refused(answer)); }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (number !== latest) return;
  const done = document.querySelectorAll("#l-tasks li.done").length;
  for (const fresh of page.getElementById("l-parts")?.children ?? []) {
    // Why a press was refused stands until something else is said, whatever is asked anew meanwhile.
    if (fresh.id === "l-said") {
      if (pressed) refusal = fresh.textContent !== "";
      else if (refusal) continue;
    }
    const old = document.getElementById(fresh.id);
    if (!old || (!sent.has(old.id) && old.matches(".ask") && filling(old))) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    patch(old, fresh);
    if (focused && !focused.isConnected) document.getElementById(fresh.id)?.querySelector("button, a, input, summary")?.focus({ preventScroll: true });
  }
  sent.clear();
  const ticked = [...document.querySelectorAll("#l-tasks li.done")];
  if (ticked.length > done) say(`Proved: ${ticked.map(item => item.querySelector("a").textContent).join("; ")}.`);
}

async function load(address, options) {
  const number = ++latest;
  try { await put(await fetch(address, options), number, options !== undefined); }
  catch { if (number === latest) say(AWAY); }
}

function refresh() {
  if (posts) wanted = true;
  else load(`/lesson/${step}/parts`);
}

// Listens while the page is seen; many changes at once are one.
function follow() {
  if (!step) return;
  if (document.hidden) { stream?.close(); stream = null; return; }
  if (stream && stream.readyState !== 2) return;
  stream = new EventSource("/api/lesson/events");
  stream.addEventListener("changed", () => { again ??= setTimeout(() => { again = null; refresh(); }, 150); });
  stream.addEventListener("open", refresh);
  stream.addEventListener("error", () => {
    // Refused, or gone.
    if (stream?.readyState === 0) say(AWAY);
    setTimeout(follow, 2000);
  });
}

addEventListener("submit", event => {
  const form = event.target, button = event.submitter;
  if (!step || !form.closest("main.lesson") || !button?.name) return;
  // A stage is opened with a page of its own: the browser's program begins there.
  if (button.name === "open") { say("The stage opens …"); return; }
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form));
  body.append(button.name, button.value);
  button.setAttribute("aria-busy", "true");
  if (button.name === "do") say("");
  const ask = form.closest(".ask");
  if (ask) sent.add(ask.id);
  posts++;
  load(form.action.split("#")[0], { method: "POST", body, headers: { "x-parts": "1" } }).finally(() => {
    button.removeAttribute("aria-busy");
    posts--;
    if (!posts && wanted) { wanted = false; refresh(); }
  });
});

// A step of a replica that has no slot leads nowhere: its button in the text looks as that of the stage does.
addEventListener("taken", () => {
  for (const button of document.querySelectorAll("[data-steps]")) {
    const stands = document.querySelector(`[data-m="g:${button.dataset.steps}"]`)?.textContent;
    button.setAttribute("aria-disabled", ["no slot", "dead", "stopped"].includes(stands));
  }
});

// Progress from a file.
document.getElementById("import")?.addEventListener("change", async event => {
  const input = event.target, file = input.files[0];
  if (!file) return;
  try {
    const headers = { "content-type": "application/json" };
    const answer = await fetch("/api/lesson/progress", { method: "POST", headers, body: await file.text() });
    if (answer.ok) return location.reload();
    say(`${file.name} was not imported. ${await refused(answer)}`);
  } catch { say("The lab did not answer. Is it still running?"); }
  // The same file may be chosen again.
  input.value = "";
});

// A command for the terminal.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", () => navigator.clipboard.writeText(button.dataset.copy)
    .then(() => say("Copied."), () => say("The browser does not let this page copy. Mark the command and copy it by hand.")));
}

// Where a run that was closed says how to go on: on this page.
addEventListener("click", event => {
  if (!step || !event.target.closest?.('.notices a[href="/lab"]')) return;
  event.preventDefault();
  location.reload();
});

document.getElementById("print")?.addEventListener("click", () => print());
document.addEventListener("visibilitychange", follow);
follow();
