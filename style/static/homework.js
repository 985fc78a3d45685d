// The homework without jumps: colours what is written, keeps it as it is typed, sends the page's own form and puts
// the parts that changed in place. Everything works without this, too.
import patch from "/patch.js";

const main = document.querySelector("main.hw"), exercise = main?.dataset.exercise;
const form = document.getElementById("h-form"), area = document.getElementById("h-text");
const editor = area.closest(".editor"), kept = () => document.getElementById("h-kept");
document.documentElement.classList.add("has-js");

// ---- colours ----
// Of each language: comments, strings, and the words that it knows. A block may go over lines, and so may a string of SQL.
const LINE_STRINGS = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/;
const LANGUAGES = {
  lua: [/--\[\[[^]*?(?:\]\]|$)|--.*/, LINE_STRINGS, "if then else elseif end return local function for in do while repeat until and or not nil true false break"],
  sql: [/\/\*[^]*?(?:\*\/|$)|--.*/, /"[^"]*"?|'[^']*'?/, "select from where insert into values on conflict do update set returning with as materialized not for share skip locked nowait order by limit and or null is in any array exists interval case when then else end key no delete"],
  toml: [/#.*/, LINE_STRINGS, "true false"],
  expression: [/#.*/, LINE_STRINGS, "and or not min max true false"],
};
const escaped = text => text.replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

// The text in colours. No colour goes over the end of a line, so that lines can stand for themselves.
function colours(code, text) {
  const [comments, strings, words] = LANGUAGES[code] ?? LANGUAGES.toml;
  const known = new Set(words.split(" "));
  const token = new RegExp(`(${comments.source})|(${strings.source})|([$]?\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
  const coloured = (kind, piece) => piece && `<span class="${kind}">${escaped(piece)}</span>`;
  let out = "", at = 0;
  for (const match of text.matchAll(token)) {
    const [all, com, str, num, word] = match;
    const kind = com ? "com" : str ? "str" : num ? "nu" : known.has(code === "sql" ? word.toLowerCase() : word) ? "kw" : "";
    out += escaped(text.slice(at, match.index));
    out += kind ? all.split("\n").map(piece => coloured(kind, piece)).join("\n") : escaped(all);
    at = match.index + all.length;
  }
  return out + escaped(text.slice(at));
}

for (const code of document.querySelectorAll("code[data-code]")) paintCode(code);
function paintCode(code) { code.innerHTML = colours(code.dataset.code, code.textContent); }

const paint = document.createElement("pre"), numbers = document.createElement("div");
for (const [part, name] of [[paint, "paint"], [numbers, "lns"]]) {
  part.className = name;
  part.setAttribute("aria-hidden", "true");
  editor.prepend(part);
}
editor.classList.add("live");

function repaint() {
  const lines = area.value.split("\n"), marked = Number(editor.dataset.line) || 0;
  const row = (at, text) => `<span class="ln${at + 1 === marked ? " mark" : ""}">${text}</span>`;
  paint.innerHTML = colours(editor.dataset.code, area.value).split("\n").map((line, at) => row(at, line)).join("");
  numbers.innerHTML = lines.map((_, at) => row(at, at + 1)).join("");
  area.rows = Math.max(lines.length + 1, 12);
  follow();
  const bytes = new TextEncoder().encode(area.value).length, most = Number(editor.dataset.most);
  const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const size = document.getElementById("h-size"), count = area.value.replace(/\n$/, "").split("\n").length;
  size.textContent = `${count} lines, ${grouped(bytes)} of ${grouped(most)} bytes`;
  size.classList.toggle("bad", bytes > most);
}
function follow() { paint.scrollLeft = area.scrollLeft; numbers.scrollTop = paint.scrollTop = area.scrollTop; }

// ---- the draft ----
// Beside the lab's copy there is one in this browser until the lab has it: a reload may be quicker than the lab.
let timer = null, sent = area.value;
const unsent = `draft/${exercise}`;
const aside = {
  read() { try { return localStorage.getItem(unsent); } catch { return null; } },
  keep(text) { try { localStorage.setItem(unsent, text); } catch { /* storage may be closed to us */ } },
  drop() { try { localStorage.removeItem(unsent); } catch { /* likewise */ } },
};
const address = `/api/homework/${exercise}/draft`;

// What is more than that a draft is kept is read out, too.
function say(text, bad = false, aloud = bad) {
  const status = kept();
  status.textContent = text;
  status.classList.toggle("bad", bad);
  if (aloud) document.getElementById("h-said").textContent = text;
}

async function keep() {
  clearTimeout(timer);
  timer = null;
  const text = area.value;
  if (text === sent) return aside.drop();
  try {
    const answer = await fetch(address, { method: "PUT", headers: { "content-type": "text/plain; charset=utf-8" }, body: text, keepalive: true });
    if (!answer.ok) return say(`Not kept. ${await why(answer)}`, true);
    sent = text;
    if (area.value !== text) return;
    aside.drop();
    say(`Draft kept ${new Date().toISOString().slice(11, 19)}`);
  } catch { say("Not kept: the lab does not answer.", true); }
}

async function why(answer) {
  try { const problem = await answer.json(); return problem.detail || problem.title; }
  catch { return `The lab answered with status ${answer.status}.`; }
}

function changed() {
  delete editor.dataset.line;
  aside.keep(area.value);
  repaint();
  timer ??= setTimeout(keep, 500);
}

// ---- the keyboard ----
let leaves = false;
area.addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return form.requestSubmit(document.getElementById("h-grade"));
  }
  // After Escape, Tab leaves as it does everywhere.
  if (event.key === "Escape") { leaves = true; return; }
  const tab = event.key === "Tab" && !event.ctrlKey && !event.altKey && !event.metaKey;
  if (tab && !leaves) {
    event.preventDefault();
    if (event.shiftKey) outdent(); else document.execCommand("insertText", false, "  ");
  }
  if (event.key !== "Shift") leaves = false;
});
function outdent() {
  const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const spaces = area.value.slice(start).match(/^ {1,2}/)?.[0].length;
  if (!spaces) return;
  const at = area.selectionStart;
  area.setSelectionRange(start, start + spaces);
  document.execCommand("delete");
  area.setSelectionRange(Math.max(start, at - spaces), Math.max(start, at - spaces));
}

area.addEventListener("input", changed);
area.addEventListener("scroll", follow);
addEventListener("pagehide", keep);
document.addEventListener("visibilitychange", () => { if (document.hidden) keep(); });

document.getElementById("h-starter").addEventListener("click", event => {
  event.preventDefault();
  area.focus();
  area.select();
  document.execCommand("insertText", false, event.target.closest("a").dataset.text);
});

// ---- grading ----
let grading = false;
form.addEventListener("submit", async event => {
  if (event.submitter?.value !== "grade") return;
  event.preventDefault();
  if (grading) return;
  grading = true;
  const button = event.submitter, text = area.value;
  button.setAttribute("aria-busy", "true");
  say("Grading \u2026", false, true);
  clearTimeout(timer);
  timer = null;
  try {
    const body = new URLSearchParams({ text, do: "grade" });
    const answer = await fetch(location.pathname, { method: "POST", body, headers: { "x-parts": "1" } });
    if (!answer.ok) return say(`Not graded. ${await why(answer)}`, true);
    sent = text;
    if (area.value === text) aside.drop();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const fresh of page.getElementById("h-parts")?.children ?? []) {
      const old = document.getElementById(fresh.id);
      if (old) patch(old, fresh);
    }
    for (const code of document.querySelectorAll("#h-result code[data-code], #h-after code[data-code]")) paintCode(code);
    const result = document.getElementById("h-result"), line = result.dataset.line;
    if (line && area.value === text) editor.dataset.line = line; else delete editor.dataset.line;
    repaint();
    if (location.search) history.replaceState(null, "", location.pathname);
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: "nearest" });
  } catch { say("Not graded: the lab does not answer. Your draft is in this page.", true); }
  finally { grading = false; button.removeAttribute("aria-busy"); }
});

repaint();
const left = aside.read();
if (left !== null && left !== area.value && !location.search) {
  area.value = left;
  changed();
}
