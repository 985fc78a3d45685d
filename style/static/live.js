// Elements whose content the server makes and that changes while one looks: what `data-src` names is fetched, again
// whenever it names something else, one request at a time. Only what has changed is taken over, part by part
// (`data-m`), so that focus and scroll stay where they are.
const busy = new WeakSet();

function parts(of) {
  return [...of.querySelectorAll('[data-m]')];
}

function take(element, markup) {
  const fresh = document.createElement('div');
  fresh.innerHTML = markup;
  const now = parts(element), next = parts(fresh);
  const same = now.length === next.length && now.length > 0 && now.every((part, i) => part.dataset.m === next[i].dataset.m);
  if (!same) return element.replaceChildren(...fresh.childNodes);
  now.forEach((part, i) => {
    for (const name of ['class', 'aria-pressed', 'aria-disabled']) {
      const value = next[i].getAttribute(name);
      if (value !== null && value !== part.getAttribute(name)) part.setAttribute(name, value);
    }
    const leaf = part.classList.contains('leaf');
    if (leaf && part.innerHTML !== next[i].innerHTML) part.innerHTML = next[i].innerHTML;
  });
}

async function load(element) {
  if (busy.has(element)) return;
  busy.add(element);
  let shown = element.dataset.shown;
  while (element.isConnected && element.dataset.src !== shown) {
    shown = element.dataset.src;
    try {
      const answer = await fetch(shown);
      if (answer.ok) take(element, await answer.text());
      dispatchEvent(new Event('taken'));
    } catch { break; }
  }
  element.dataset.shown = shown;
  busy.delete(element);
}

// One step back, in a run that is stepped through: by its button, or by its key from anywhere on the page.
let goingBack = false;
async function back(button) {
  const panel = button.closest('[data-src]');
  if (!panel || goingBack || button.classList.contains('off')) return;
  const said = panel.querySelector('[data-m=decided]');
  goingBack = true;
  button.setAttribute('aria-busy', 'true');
  said.textContent = 'The moves before it are made once more …';
  try {
    const answer = await fetch(`/api/runs/${panel.dataset.src.split('/')[3]}/back`, { method: 'POST' });
    if (!answer.ok) said.textContent = (await answer.json()).detail;
    // What the panel says is newer than the last event that it was fetched for.
    else { delete panel.dataset.shown; load(panel); }
  } catch { said.textContent = 'The lab did not answer. Is it still running?'; }
  button.removeAttribute('aria-busy');
  goingBack = false;
}
document.addEventListener('click', event => {
  const button = event.target.closest?.('[data-back]');
  if (button) back(button);
});
addEventListener('keydown', event => {
  if (event.key !== 'z' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest?.('input, select, textarea, dialog[open]')) return;
  const button = document.querySelector('[data-back]');
  if (button) { event.preventDefault(); back(button); }
});

const look = () => document.querySelectorAll('[data-src]').forEach(load);
new MutationObserver(look).observe(document.body, { attributes: true, attributeFilter: ['data-src'], subtree: true });
// A tab that was just opened has named its source before it was here.
for (const deed of ['click', 'keydown']) addEventListener(deed, () => setTimeout(look));
look();
