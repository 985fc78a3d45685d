// The matrix page without jumps: sends the page's own form, follows its own links, and puts the answer, which is
// the same page, in place. While runs go on it listens for changes. Everything works without this, too.
import patch from "/patch.js";

const main = () => document.getElementById("main");
let stream = null, latest = 0, again = null;

function say(text) { const status = document.getElementById("mx-said"); if (status) status.textContent = text; }

async function put(answer, number) {
  if (answer.headers.get("content-type")?.includes("json")) return say((await answer.json()).detail);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (number !== latest) return;
  const fresh = page.getElementById("main");
  if (!answer.ok || !fresh?.classList.contains("mx")) {
    const words = [...page.querySelectorAll("main h1, main .ink2")].map(part => part.textContent);
    return say(words.join(": ") || "The lab did not answer.");
  }
  const focused = document.activeElement;
  const id = focused?.id || focused?.closest("td")?.querySelector("[id]")?.id;
  const within = main().contains(focused);
  patch(main(), fresh);
  if (within && !focused.isConnected) {
    (document.getElementById(id) || document.querySelector(".mx-h .btn:last-child"))?.focus({ preventScroll: true });
  }
  follow();
}

async function load(address, options) {
  const number = ++latest;
  try { await put(await fetch(address, options), number); }
  catch { if (number === latest) say("The lab did not answer. Is it still running?"); }
}

function refresh() { return load(location.href.split("#")[0]); }

// Listens as long as something goes on; many changes at once are one.
function follow() {
  const busy = main().dataset.busy === "true";
  if (busy && !stream) {
    stream = new EventSource("/api/matrix/events");
    stream.addEventListener("changed", () => { again ??= setTimeout(() => { again = null; refresh(); }, 250); });
    // What changed before it listened.
    stream.addEventListener("open", refresh, { once: true });
  }
  if (!busy && stream) { stream.close(); stream = null; }
}

addEventListener("submit", event => {
  if (!main()?.contains(event.target) || !event.submitter?.name) return;
  event.preventDefault();
  const { name, value } = event.submitter;
  load(event.target.action, { method: "POST", body: new URLSearchParams({ [name]: value }) });
});

addEventListener("click", event => {
  const link = event.target.closest?.("#main a[href]");
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  if (!link || "leaves" in link.dataset || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href.split("#")[0]);
  refresh();
});

addEventListener("popstate", refresh);

// Arrows move from cell to cell; c and n predict.
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = document.querySelector(".menu[open]");
  if (event.key === "Escape" && open) { open.open = false; open.querySelector("summary").focus(); return; }
  const cell = event.target.closest?.("td.mc");
  if (!cell) return;
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (step) {
    const rows = [...document.querySelectorAll(".matrix tbody tr:not(.grp)")];
    let row = rows.indexOf(cell.parentElement), column = [...cell.parentElement.children].indexOf(cell), to = null;
    do {
      row += step[0]; column += step[1];
      const next = rows[row]?.children[column];
      if (!next || next.localName !== "td") return;
      to = next.offsetParent && next.querySelector("[id], button, a");
    } while (!to);
    event.preventDefault();
    to.focus();
  }
  const word = { c: "covered", n: "not-covered" }[event.key];
  if (word && cell.dataset.cell) {
    event.preventDefault();
    const form = cell.closest("form");
    load(form.action, { method: "POST", body: new URLSearchParams({ predict: `${cell.dataset.cell}/${word}` }) });
  }
});

follow();
