// Seats as people know them: name, colour, whether it is me; scores in any form.

import { h } from "./dom.js";
import { say, words } from "./words.js";

export const seatOf = (snapshot, id) => snapshot.seats.find(seat => seat.id === id);
// The name somebody sat down with, or "".
export const personOf = (snapshot, id) => snapshot.settings?.names?.[id] ?? "";
export function nameOf(snapshot, id) {
  const seat = seatOf(snapshot, id), person = personOf(snapshot, id);
  return !seat ? say(id) : person ? `${person} (${words(seat.name)})` : words(seat.name);
}
export const mine = (snapshot, id) => snapshot.you.host || snapshot.you.seats.includes(id);
export const seated = snapshot => snapshot.you.host || snapshot.you.seats.length > 0;

export function seatTag(snapshot, id) {
  return h("span", { class: "seat", colour: seatOf(snapshot, id)?.colour }, seatOf(snapshot, id) ? words(seatOf(snapshot, id).name) : say(id));
}

// A score is a number or {colour: number}: the parts as [name, number], "total" last.
export function parts(score) {
  if (score === null || score === undefined) return [];
  if (typeof score !== "object") return [["total", score]];
  return Object.entries(score).sort(([a], [b]) => (a === "total") - (b === "total"));
}

// Points of several sorts: what of them decides, in words; "" where the score is one number.
export const deciding = snapshot => Object.values(snapshot.scores ?? {}).some(score => typeof score === "object") ? say("The weakest colour decides.") : "";

const SWATCHES = { black: "#2b2b2b", red: "#b3261e", blue: "#1f5fa8", green: "#2e7d32", yellow: "#d9a400", white: "#f2efe6", treasure: "#b07a2a", gold: "#c99a2e" };

export function points(name, number, signed) {
  const text = signed && number > 0 ? `+${number}` : `${number}`;
  if (name === "total") return h("span", { class: "points" }, text);
  return h("span", { class: "points", colour: SWATCHES[name] }, h("i", { class: "swatch", "aria-hidden": "true" }), h("b", null, text), " ", h("span", { class: "of" }, say(name)));
}

// What one move changed: [[seat, name, difference], ...]
export function gained(before, after) {
  const out = [];
  for (const [seat, score] of Object.entries(after ?? {})) {
    const was = Object.fromEntries(parts(before?.[seat]));
    for (const [name, n] of parts(score)) {
      if (typeof n === "number" && n !== (was[name] ?? 0)) out.push([seat, name, n - (was[name] ?? 0)]);
    }
  }
  const fine = out.filter(([seat, name]) => name !== "total" || !out.some(o => o[0] === seat && o[1] !== "total"));
  return fine;
}
