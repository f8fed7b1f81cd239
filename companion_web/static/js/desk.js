// @ts-check
// The plan being drawn: what is drawn so far, what is chosen. Every change is told to the server.

import { byId } from "./dom.js";
import { tell } from "./talk.js";
import { say } from "./words.js";

/** @typedef {[number, number]} Point in the photo's pixels */
/** @typedef {{ id: string, outlines: Point[][], tags: string[], reads: string, of: string | null, optional: boolean, drawn: boolean, touching: { [id: string]: boolean } }} Place */
/** @typedef {{ corners: Point[], size: Point, joined: boolean, sites: Place[] }} Drawing */
/** @typedef {import("../../types/snapshot").Packed} Packed */
/** @typedef {{ name: string, text: Packed, when: string[], none: Packed | null, tags: { tag: string, text: Packed }[] }} Choice */
/** @typedef {{ choices: Choice[], names: string[], rows: string[], cells: string[], draws: string | null }} Form */
/** @typedef {{ text: Packed, sites: string[], stops: boolean }} Fault */

/**
 * form and drawing are there from the first answer on; held: the handle that a finger holds; before: drawings to go back to, as JSON;
 * show: draws it all anew.
 */
export const desk = {
  form: /** @type {Form} */ (/** @type {unknown} */ (null)),
  drawing: /** @type {Drawing} */ (/** @type {unknown} */ (null)),
  borders: /** @type {{ [id: string]: string[] }} */ ({}),
  asked: /** @type {{ [id: string]: string[] }} */ ({}),
  faults: /** @type {Fault[]} */ ([]),
  chosen: /** @type {string | null} */ (null),
  begun: /** @type {Point[]} */ ([]),
  partOf: /** @type {string | null} */ (null),
  mode: "choose",
  held: /** @type {any} */ (null),
  before: /** @type {string[]} */ ([]),
  sent: 0,
  file: "",
  show: () => {},
};

/** @type {(id: string | null) => any} */
export const site = id => desk.drawing.sites.find(one => one.id === id);

// Every change goes through here: it can be undone, is drawn, and told to the server, which answers with what it thinks of it.
export function change(act) {
  desk.before.push(JSON.stringify(desk.drawing));
  if (desk.before.length > 200) desk.before.shift();
  act(desk.drawing);
  desk.show();
  report("/api/trace");
}

export async function report(path, more = {}) {
  const mine = ++desk.sent;
  try {
    const answer = await tell(path, { drawing: desk.drawing, ...more });
    if (mine !== desk.sent) return null;
    take(answer);
    return answer;
  } catch (e) {
    hint(e.message);
    return null;
  }
}

export function take({ drawing, faults, borders, asked }) {
  Object.assign(desk, { faults, borders, asked });
  if (!desk.held) desk.drawing = drawing;
  desk.show();
}

export const hint = text => { byId("hint").textContent = text; };

export function undo() {
  if (desk.begun.length) desk.begun.pop();
  else if (desk.before.length) {
    desk.drawing = JSON.parse(desk.before.pop() ?? "null");
    if (!site(desk.chosen)) desk.chosen = null;
    report("/api/trace");
  }
  desk.show();
}

export function setMode(mode, partOf = null) {
  Object.assign(desk, { mode, partOf, begun: [] });
  hint({
    corners: say("Drag the four marks to the board's corners; the mark 1 goes to its upper left corner, as the board lies for its readers."),
    choose: say("Tap a place to choose it; drag its points to move them."),
    draw: say("Tap along the edge, and the first point again to close it. Points near another outline join it."),
  }[mode]);
  desk.show();
}
