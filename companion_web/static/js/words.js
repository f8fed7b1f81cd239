// @ts-check
// Sentences in the reader's language. A text is {t: English template, a: arguments}; arguments may be texts themselves.

/** @type {{ [template: string]: string }} */
let texts = {};
export let language = document.documentElement.lang || "en";

// How this reader writes dates and numbers: their own country's way, where the browser's language is the page's.
export const region = (navigator.languages ?? []).find(l => l.split("-")[0] === language) ?? language;

/** @type {Set<string>} */
let places = new Set();
// The ids that sentences name as places; they are shown as people call them.
/** @type {(ids: string[]) => void} */
export const namePlaces = ids => { places = new Set(ids); };

// "australia-3.forest1" -> "Australia 3, forest 1"
/**
 * @param {string} id
 * @returns {string}
 */
export function placeName(id) {
  const [cell, spot] = String(id).match(/^[a-z]/) ? String(id).split(".") : [String(id)];
  const named = one => {
    const [, word, n] = one.match(/^([a-z][a-z-]*?)-?(\d*)$/) ?? [null, null, null];
    return word ? [say(word), n].filter(Boolean).join(" ") : one;
  };
  return spot ? `${named(cell)}, ${named(spot)}` : named(cell);
}
const placesIn = text => text.split(", ").every(id => places.has(id)) ? text.split(", ").map(placeName).join(", ") : text;

// A page that carries its language in itself says so; any other asks for it.
export const teach = found => { texts = found; };

export async function learn() {
  const answer = await fetch(`/locale/${language}.json`);
  texts = answer.ok ? (await answer.json()).texts : {};
}

const filled = (template, args) => template
  .replace(/\{\{|\}\}|\{(\w+)(?::[^}]*)?\}/g, (all, name) => all === "{{" ? "{" : all === "}}" ? "}" : name in args ? words(args[name]) : all);

/**
 * @param {string} template in English
 * @param {{ [name: string]: any }} [args]
 */
export function say(template, args = {}) {
  return filled(texts[template] ?? template, args);
}

// A sentence begins with a capital and ends once.
/** @type {(text: string) => string} */
export const sentence = text => text ? `${text[0].toLocaleUpperCase(region)}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}` : "";

// What the table sent: a text, a plain word or a number.
/**
 * @param {import("../../types/snapshot").Words | undefined} value
 * @returns {string}
 */
export function words(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && "t" in value) {
    const template = texts[value.t] ?? value.t;
    return value.a ? filled(template, value.a) : template;
  }
  return typeof value === "number" ? value.toLocaleString(region) : places.has(String(value).split(", ")[0]) ? placesIn(String(value)) : texts[value] ?? String(value);
}

// "1 h 20 min", "4 min", "35 s"
/** @param {number} seconds */
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return say("{n} s", { n: Math.round(seconds) });
  return minutes < 60 ? say("{n} min", { n: minutes }) : say("{h} h {n} min", { h: Math.floor(minutes / 60), n: minutes % 60 });
}

/** @param {string} code of a language */
export function choose(code) {
  document.cookie = `nilometer_language=${code}; path=/; max-age=31536000; samesite=strict`;
  location.reload();
}
