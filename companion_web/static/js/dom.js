// Making and refilling elements. No markup is ever made from text: whatever the table says stays text.

const SVG = "http://www.w3.org/2000/svg";

export const byId = id => document.getElementById(id);

function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "colour") element.style.setProperty("--colour", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

export function h(tag, attributes, ...children) {
  const element = dress(document.createElement(tag), attributes);
  element.append(...children.flat(3).filter(c => c !== null && c !== undefined && c !== false));
  return element;
}

export function s(tag, attributes, ...children) {
  const element = dress(document.createElementNS(SVG, tag), attributes);
  element.append(...children.flat(3).filter(Boolean));
  return element;
}

// Refills only when `key` (any JSON value) is another than last time, and gives the focus back to where it was.
export function fill(element, key, make) {
  const text = JSON.stringify(key);
  if (element.filledFor === text) return false;
  element.filledFor = text;
  const active = document.activeElement;
  const focus = element.contains(active) ? active.dataset.focus : null;
  const made = make();
  element.replaceChildren(...[made].flat(3).filter(c => c !== null && c !== undefined && c !== false));
  if (focus) element.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  return true;
}

// All is filled anew next time: what it was made with means something else now.
export const refill = () => document.querySelectorAll("*").forEach(element => { delete element.filledFor; });

export function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("use", { href: `/static/icons/icons.svg#${name}` }));
}
