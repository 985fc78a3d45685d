// Makes an element that stands here the one that came, touching only what differs: a press that has begun, what is
// scrolled and what is unfolded stay.
export default function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const alike = old.nodeType === 1 && fresh.nodeType === 1 && old.localName === fresh.localName
    && old.localName !== "svg" && old.id === fresh.id && old.childNodes.length === fresh.childNodes.length;
  if (!alike) return void old.replaceWith(document.importNode(fresh, true));
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  [...old.childNodes].forEach((child, i) => patch(child, fresh.childNodes[i]));
}
