// @ts-check
// Players: whose turn, scores and what else is known of each; and the game's tracks, tables and notes.

import { byId, fill, h, icon } from "./dom.js";
import { pieceIcon } from "./board.js";
import { nameOf, nobodyActs, parts, personOf, points } from "./people.js";
import { placeName, say, sentence, words } from "./words.js";

/** @typedef {import("../../types/snapshot").Snapshot} Snapshot */
/** @typedef {import("../../types/snapshot").Fact} Fact */
/** @typedef {import("../../types/snapshot").Words} Words */
/** @typedef {import("../../types/page").Plan} Plan */

/**
 * @param {Snapshot} snapshot
 * @param {Plan | null} plan
 */
export function showPlayers(snapshot, plan) {
  const view = snapshot.view ?? {}, hidden = snapshot.settings?.hidden_scores && !snapshot.outcome;
  const box = byId("players").lastElementChild;
  fill(box, [snapshot.seats, snapshot.turn, snapshot.actors, snapshot.scores, snapshot.standing, view.seats, view.phase, view.round, view.left, snapshot.outcome, snapshot.you, snapshot.settings?.names, hidden, Boolean(plan)], () => [
    h("p", { class: "turn" }, turnWords(snapshot), " ", h("span", { class: "phase" },
      [view.round ? say("Round {n}", { n: view.round }) : null, words(view.phase), words(view.left)].filter(Boolean).join(" · "))),
    h("ul", { class: "players" }, snapshot.seats.map(seat => player(snapshot, seat, plan, hidden))),
    hidden ? h("p", { class: "hint" }, icon("secret"), " ", say("Scores stay hidden till the end.")) : null,
  ]);
}

/**
 * @param {Snapshot} snapshot
 * @returns {string}
 */
export function turnWords(snapshot) {
  if (snapshot.outcome) return say("The game is over.");
  if (!snapshot.turn || nobodyActs(snapshot)) return "";
  const others = snapshot.actors.filter(id => id !== snapshot.turn && snapshot.seats.some(seat => seat.id === id));
  const turn = say("It is {name}'s turn.", { name: nameOf(snapshot, snapshot.turn) });
  return others.length && !snapshot.actors.includes(snapshot.turn) ? `${turn} ${say("{names} must act first.", { names: others.map(id => nameOf(snapshot, id)).join(", ") })}` : turn;
}

/**
 * @param {Snapshot} snapshot
 * @param {import("../../types/snapshot").SeatView} seat
 * @param {Plan | null} plan
 * @param {boolean} hidden
 */
function player(snapshot, seat, plan, hidden) {
  const turn = snapshot.turn === seat.id && !nobodyActs(snapshot), won = snapshot.outcome?.winners.includes(seat.id);
  const score = parts(snapshot.scores?.[seat.id]);
  // What the score says already is not said again.
  const facts = (snapshot.view?.seats?.find(({ id }) => id === seat.id)?.facts ?? []).filter(f => !score.some(([name, n]) => f.label?.t?.replace(/s$/, "") === name || name === "total" && f.label?.t === "points" && f.value === n));
  return h("li", { class: turn ? "player now" : "player", colour: seat.colour, "aria-current": turn ? "true" : null },
    h("div", { class: "who" }, h("span", { class: "seat", colour: seat.colour }, words(seat.name)),
      turn ? h("span", { class: "badge now" }, icon("turn"), say("turn")) : null,
      personOf(snapshot, seat.id) ? h("span", { class: "person" }, personOf(snapshot, seat.id)) : null,
      won ? h("span", { class: "badge won" }, icon("winner"), say("winner")) : null,
      snapshot.you.seats.includes(seat.id) ? h("span", { class: "badge you" }, say("you")) : null),
    h("div", { class: "score" }, score.length > 1 && snapshot.standing?.[seat.id] !== undefined ? h("span", { class: "standing", title: say("The weakest colour decides.") }, String(snapshot.standing[seat.id])) : null, score.length ? score.map(([name, n]) => points(name, n)) : hidden ? h("span", { class: "hint" }, say("hidden")) : null),
    facts.length ? h("dl", { class: "facts" }, gathered(facts).map(some => some.length > 1 ? pictures(some, plan) : fact(some[0], plan))) : null);
}

// Facts of one name whose values are pieces stand in one line, as pictures.
/** @param {Fact[]} facts */
function gathered(facts) {
  const out = [];
  for (const f of facts) {
    const same = f.kind && out.find(([g]) => g.kind && words(g.label) === words(f.label));
    if (same) same.push(f);
    else out.push([f]);
  }
  return out;
}

const pictures = (facts, plan) => h("div", { class: "pieces-line" }, h("dt", null, words(facts[0].label)),
  h("dd", null, facts.map(f => h("span", { title: words(f.value) }, pieceIcon(plan, f.kind), h("span", { class: "unseen" }, words(f.value), " ")))));

/**
 * @param {Fact} f
 * @param {Plan | null} plan
 */
function fact(f, plan) {
  const secret = f.value === null || f.value === undefined, value = secret ? "" : words(f.value);
  return h("div", { class: value.length > 6 ? "long" : null },
    h("dt", null, f.kind ? pieceIcon(plan, f.kind) : f.colour ? h("i", { class: "swatch", colour: f.colour, "aria-hidden": "true" }) : null, words(f.label)),
    h("dd", null, secret ? h("span", { title: say("hidden") }, icon("secret"), h("span", { class: "unseen" }, say("hidden"))) : value));
}

/** @param {Snapshot} snapshot */
export function showFacts(snapshot) {
  const view = snapshot.view ?? {}, tracks = view.tracks ?? [];
  const large = tracks.filter(t => t.large), small = tracks.filter(t => !t.large), box = byId("large");
  box.hidden = !large.length;
  fill(box, large, () => h("ul", { class: "tracks" }, large.map(track)));
  const shown = [small, view.coming, view.tables, view.notes, view.highlight];
  byId("facts").hidden = !shown.some(part => part && (Array.isArray(part) ? part.length : Object.keys(part).length));
  fill(byId("facts").lastElementChild, shown, () => [
    small.length ? h("ul", { class: "tracks" }, small.map(track)) : null,
    (view.coming ?? []).length ? [h("h3", null, say("What comes next")), h("ol", { class: "coming" }, view.coming.map(text => h("li", null, words(text))))] : null,
    (view.tables ?? []).map(dataTable),
    Object.keys(view.highlight ?? {}).length ? [h("h3", null, say("Marked on the board")), h("dl", { class: "marked" }, Object.entries(view.highlight).map(([site, text]) => [h("dt", null, placeName(site)), h("dd", null, sentence(words(text)))]))] : null,
    (view.notes ?? []).map(text => h("p", { class: "note" }, sentence(words(text)))),
  ]);
}

/** @param {import("../../types/snapshot").Track} track */
function track({ label, value, max, steps, marks, large, means }) {
  const names = steps?.map(words);
  const said = names ? (names[value ?? -1] ?? words(value)) : max === null || max === undefined ? words(value) : say("{value} of {max}", { value, max });
  return h("li", { class: large ? "large" : null }, h("span", { class: "label" }, words(label)), h("b", null, said),
    means ? h("p", { class: "means" }, words(means)) : null,
    names ? h("ol", { class: "steps", "aria-hidden": "true" }, names.map((name, i) => h("li", { class: i === value ? "at" : null }, name))) : null,
    !names && max ? scale(value, max, marks ?? []) : null);
}

function scale(value, max, marks) {
  const level = h("i", { class: "level" });
  level.style.setProperty("width", `${Math.max(0, Math.min(100, 100 * value / max))}%`);
  return h("div", { class: "scale", "aria-hidden": "true" }, level, marks.filter(m => m <= max).map(m => {
    const mark = h("i", { class: "at" });
    mark.style.setProperty("left", `${100 * m / max}%`);
    return mark;
  }));
}

const cell = value => value === null || value === undefined ? "" : words(value);

const NARROW = 44;      // letters that stand beside each other on a phone

// A table that is too wide for a phone: there each row becomes a list, with the column's name before each value.
const tooWide = (columns, rows) => columns.length > 4 && columns.reduce((sum, name, i) => sum + 1.5 + Math.max(...words(name).split(" ").map(w => w.length), ...rows.map(row => cell(row[i]).length)), 0) > NARROW;

/** @param {{ title: Words, columns: Words[] | null, rows: Words[][] }} table */
export function dataTable({ title, columns, rows }) {
  const heading = sentence(words(title)).replace(/\.$/, "");
  if (!rows.length) return h("p", { class: "empty" }, h("strong", null, heading), ": ", say("nothing"));
  const names = columns ?? [], value = (v, i) => h("td", { "data-column": names[i] ? words(names[i]) : null }, cell(v));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words(title) }, h("table", { class: tooWide(names, rows) ? "wide" : null }, h("caption", null, heading),
    names.length ? h("thead", null, h("tr", null, names.map(c => h("th", { scope: "col" }, words(c))))) : null,
    h("tbody", null, rows.map(row => h("tr", null, row.map((v, i) => i ? value(v, i) : h("th", { scope: "row" }, cell(v))))))));
}
