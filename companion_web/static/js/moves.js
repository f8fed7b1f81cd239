// @ts-check
// The moves so far: take back, and the referee's look at the board before and after.

import { byId, fill, h, icon } from "./dom.js";
import { Board, contentsInWords } from "./board.js";
import { gained, points, seatOf, seatTag, seated } from "./people.js";
import { openDialog } from "./rules.js";
import { ask, tell } from "./talk.js";
import { doing } from "./verdict.js";
import { placeName, say } from "./words.js";

/** @typedef {import("../../types/snapshot").Snapshot} Snapshot */
/** @typedef {import("../../types/page").Plan} Plan */
/** @typedef {import("../../types/page").Failed} Failed */

const FIRST = globalThis.innerWidth < 900 ? 5 : 12;      // on a phone what stands below is not far
let all = false;

/**
 * @param {Snapshot} snapshot
 * @param {Plan | null} plan
 * @param {Failed} failed
 */
export function showMoves(snapshot, plan, failed) {
  const box = byId("moves").lastElementChild, moves = snapshot.moves;
  fill(box, [moves, snapshot.you, all, Boolean(plan)], () => {
    if (!moves.length) return h("p", { class: "hint" }, say("Nobody has moved yet."));
    const laid = layingOut(snapshot), from = all ? laid : Math.max(laid, moves.length - FIRST);
    const items = moves.slice(from).map((move, i) => line(snapshot, from + i, plan, failed)).reverse();
    return [h("ol", { class: "moves", reversed: true }, items),
      laid && from === laid ? h("details", { class: "laid" }, h("summary", null, say("The board was laid out: {n} pieces", { n: laid })),
        h("ol", { class: "moves", reversed: true }, moves.slice(0, laid).map((move, i) => line(snapshot, i, plan, failed)).reverse())) : null,
      from > laid ? h("button", { type: "button", onclick: () => { all = true; showMoves(snapshot, plan, failed); } }, say("All {n} moves", { n: moves.length })) : null];
  });
}

// How many moves at the beginning nobody made: the table saw the box being unpacked.
/** @param {Snapshot} snapshot */
function layingOut(snapshot) {
  const n = snapshot.moves.findIndex(move => snapshot.seats.some(({ id }) => id === move.seat));
  const laid = n < 0 ? snapshot.moves.length : n;
  return laid > 2 && laid < snapshot.moves.length ? laid : 0;
}

/**
 * @param {Snapshot} snapshot
 * @param {number} i
 * @param {Plan | null} plan
 * @param {Failed} failed
 */
function line(snapshot, i, plan, failed) {
  const moves = snapshot.moves, move = moves[i], n = i + 1;
  const won = gained(moves[i - 1]?.scores ?? snapshot.opening, move.scores);
  return h("li", { value: n },
    h("span", { class: "number" }, `${n}`),
    h("span", { class: "what" }, h("span", null, told(snapshot, move)),
      won.length ? h("span", { class: "gains" }, won.map(([seat, name, d]) => h("span", { class: "gain" }, seat === move.seat ? null : [seatTag(snapshot, seat), " "], points(name, d, true)))) : null),
    h("span", { class: "tools" },
      h("button", { type: "button", class: "tool", "data-focus": `look-${move.event}`, "aria-label": say("Look at move {n}", { n }), title: say("Look at move {n}", { n }), onclick: () => look(snapshot, n, plan) }, icon("look")),
      seated(snapshot) ? h("button", { type: "button", class: "tool", "data-focus": `back-${move.event}`, "aria-label": say("Take back move {n} and all after it", { n }), title: say("Take back move {n} and all after it", { n }), onclick: () => takeBack(snapshot, i, failed) }, icon("back")) : null));
}

/**
 * @param {Snapshot} snapshot
 * @param {number} i from which move on
 * @param {Failed} failed
 */
export function takeBack(snapshot, i, failed) {
  const moves = snapshot.moves, to = i > 0 ? moves[i - 1].event : snapshot.start, count = moves.length - i;
  const dialog = openDialog(count > 1 ? say("Take back {n} moves?", { n: count }) : say("Take back this move?"),
    h("ul", { class: "acts" }, moves.slice(i).map(move => h("li", null, told(snapshot, move)))),
    h("p", null, say("The board is then compared with how it stood before; the page says what to put where.")),
    h("div", { class: "row" },
      h("button", { type: "button", class: "strong", id: "really", onclick: async () => {
        dialog.close();
        try { await tell("/api/undo", { event: to }); } catch (e) { failed(e); }
      } }, say("Take back")),
      h("button", { type: "button", onclick: () => dialog.close() }, say("No"))));
}

/**
 * @param {Snapshot} snapshot
 * @param {number} n which move, from 1 on
 * @param {Plan | null} plan
 */
async function look(snapshot, n, plan) {
  const move = snapshot.moves[n - 1], last = snapshot.moves.length;
  let data;
  try {
    data = await ask(`/api/moves/${move.event}`);
  } catch (e) {
    openDialog(say("Move {n}", { n }), h("p", { class: "fault" }, e.message));
    return;
  }
  const sites = [...new Set([...Object.keys(data.before), ...Object.keys(data.after)])]
    .filter(site => (data.before[site] ?? []).join("|") !== (data.after[site] ?? []).join("|"));
  const half = (when, head) => h("section", { class: "half" }, h("h3", null, head),
    data.pictures.includes(when) ? h("img", { src: `/api/moves/${move.event}/${when}.jpg`, alt: when === "before" ? say("The camera's picture before the move") : say("The camera's picture after the move") }) : null,
    plan ? drawn(plan, data[when], sites, head) : null);
  const named = contents => plan && contents?.length ? contentsInWords(plan, contents) : say("nothing");
  const step = (to, words, text) => h("button", { type: "button", disabled: to < 1 || to > last, "aria-label": words, onclick: () => look(snapshot, to, plan) }, text);
  openDialog(say("Move {n}", { n }), h("div", { class: "row replay" }, step(n - 1, say("The move before"), "◂"),
    h("input", { type: "range", min: "1", max: String(last), value: String(n), "aria-label": say("Move"), "aria-valuetext": say("Move {n}", { n }), onchange: e => look(snapshot, Number(e.target.value), plan) }),
    step(n + 1, say("The next move"), "▸")),
    h("p", { class: "moves" }, told(snapshot, move)),
    plan && sites.length ? h("ul", { class: "differences" }, sites.map(site => h("li", null, say("{site}: {before}, then {after}", { site: placeName(site), before: named(data.before[site]), after: named(data.after[site]) })))) : null,
    h("div", { class: "halves" }, half("before", say("Before")), half("after", say("After"))),
    data.pictures.length ? null : h("p", { class: "hint" }, say("There are no camera pictures of this move.")));
}

// What was done, marked with the colour of who did it: a sentence need not name them.
const told = (snapshot, move) => [move.words?.length ? h("i", { class: "swatch", colour: seatOf(snapshot, move.seat)?.colour, "aria-hidden": "true" }) : null, doing(snapshot, move)];

function drawn(plan, layout, sites, label) {
  const board = new Board(plan, { label });
  board.show(layout);
  board.mark(sites.map(site => ({ site, kind: "new" })));
  return board.svg;
}
