// @ts-check
// Making and refilling elements. No markup is ever made from text: whatever the table says stays text.

let filledFor = new WeakMap();   // element -> the key that it was filled for

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {import("../../types/page").Children} Children */
/** @typedef {{ [name: string]: any } | null} Attributes "on..." listens, "colour" sets --colour; null and false are left out */

/**
 * An element of the page's own HTML, which has it.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind] where more is asked of it than of any element
 * @returns {T}
 */
export const byId = (id, kind) => /** @type {T} */ (document.getElementById(id));

/**
 * @template {Element} T
 * @param {T} element
 * @param {Attributes} [attributes]
 * @returns {T}
 */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "colour") /** @type {any} */ (element).style.setProperty("--colour", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

/**
 * @param {Children[]} children
 * @returns {(Node | string)[]}
 */
const shown = children => /** @type {any[]} */ (children.flat(3)).filter(c => c !== null && c !== undefined && c !== false);

/**
 * An element of HTML.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = dress(document.createElement(tag), attributes);
  element.append(...shown(children));
  return element;
}

/**
 * An element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Children} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, attributes, ...children) {
  const element = dress(document.createElementNS(SVG, tag), attributes);
  element.append(.../** @type {any[]} */ (children.flat(3)).filter(Boolean));
  return element;
}

/**
 * Refills only when `key` (any JSON value) is another than last time, and gives the focus back to where it was.
 * @param {Element | null} element
 * @param {unknown} key
 * @param {() => Children} make
 * @returns {boolean} whether it did
 */
export function fill(element, key, make) {
  const text = JSON.stringify(key);
  if (!element || filledFor.get(element) === text) return false;
  filledFor.set(element, text);
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const focus = active && element.contains(active) ? active.dataset.focus : null;
  const made = make();
  element.replaceChildren(...shown([made]));
  if (focus) {
    const again = element.querySelector(`[data-focus="${CSS.escape(focus)}"]`);
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
  }
  return true;
}

/** @type {(element: Element) => void} it is empty, and filled anew next time */
export const clear = element => { element.replaceChildren(); filledFor.delete(element); };

// All is filled anew next time: what it was made with means something else now.
export const refill = () => { filledFor = new WeakMap(); };

/** @param {string} name of a drawing in icons.svg */
export function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    s("use", { href: `/static/icons/icons.svg#${name}` }));
}
