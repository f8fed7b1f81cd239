// @ts-check
// Seats as people know them: name, colour, whether it is me; scores in any form.

import { h } from "./dom.js";
import { say, words } from "./words.js";

/** @typedef {import("../../types/snapshot").Snapshot} Snapshot */
/** @typedef {import("../../types/snapshot").Score} Score */
/** @typedef {import("../../types/page").Gain} Gain */

/** @type {(snapshot: Snapshot, id: string) => import("../../types/snapshot").SeatView | undefined} */
export const seatOf = (snapshot, id) => snapshot.seats.find(seat => seat.id === id);
// The name somebody sat down with, or "".
/** @type {(snapshot: Snapshot, id: string) => string} */
export const personOf = (snapshot, id) => snapshot.settings?.names?.[id] ?? "";
/**
 * "Anna (Bull)", or the seat's own name.
 * @param {Snapshot} snapshot
 * @param {string} id
 */
export function nameOf(snapshot, id) {
  const seat = seatOf(snapshot, id), person = personOf(snapshot, id);
  return !seat ? say(id) : person ? `${person} (${words(seat.name)})` : words(seat.name);
}
// While the board is laid out, what comes next is the box's, whoever begins.
/** @type {(snapshot: Snapshot) => boolean} */
export const nobodyActs = snapshot => snapshot.actors.length > 0 && !snapshot.actors.some(id => seatOf(snapshot, id));
/** @type {(snapshot: Snapshot, id: string) => boolean} */
export const mine = (snapshot, id) => snapshot.you.host || snapshot.you.seats.includes(id);
/** @type {(snapshot: Snapshot) => boolean} */
export const seated = snapshot => snapshot.you.host || snapshot.you.seats.length > 0;

/**
 * @param {Snapshot} snapshot
 * @param {string} id
 */
export function seatTag(snapshot, id) {
  const seat = seatOf(snapshot, id);
  return h("span", { class: "seat", colour: seat?.colour }, seat ? words(seat.name) : say(id));
}

// A score is a number or {colour: number}: the parts as [name, number], "total" last.
/**
 * @param {Score | null | undefined} score
 * @returns {[name: string, number: number][]}
 */
export function parts(score) {
  if (score === null || score === undefined) return [];
  if (typeof score !== "object") return [["total", score]];
  return Object.entries(score).sort(([a], [b]) => Number(a === "total") - Number(b === "total"));
}

// Points of several sorts: what of them decides, in words; "" where the score is one number.
/** @type {(snapshot: Snapshot) => string} */
export const deciding = snapshot => Object.values(snapshot.scores ?? {}).some(score => typeof score === "object") ? say("The weakest colour decides.") : "";

const SWATCHES = { black: "#2b2b2b", red: "#b3261e", blue: "#1f5fa8", green: "#2e7d32", yellow: "#d9a400", white: "#f2efe6", treasure: "#b07a2a", gold: "#c99a2e" };

/**
 * @param {string} name
 * @param {number} number
 * @param {boolean} [signed]
 */
export function points(name, number, signed) {
  const text = signed && number > 0 ? `+${number}` : `${number}`;
  if (name === "total") return h("span", { class: "points" }, text);
  return h("span", { class: "points", colour: SWATCHES[name] }, h("i", { class: "swatch", "aria-hidden": "true" }), h("b", null, text), " ", h("span", { class: "of" }, say(name)));
}

// What one move changed: [[seat, name, difference], ...]
/**
 * @param {{ [seat: string]: Score } | null | undefined} before
 * @param {{ [seat: string]: Score } | null | undefined} after
 * @returns {Gain[]}
 */
export function gained(before, after) {
  /** @type {Gain[]} */
  const out = [];
  for (const [seat, score] of Object.entries(after ?? {})) {
    const was = Object.fromEntries(parts(before?.[seat]));
    for (const [name, n] of parts(score)) {
      if (typeof n === "number" && n !== (was[name] ?? 0)) out.push([seat, name, n - (was[name] ?? 0)]);
    }
  }
  return out.filter(([seat, name]) => name !== "total" || !out.some(o => o[0] === seat && o[1] !== "total"));
}
