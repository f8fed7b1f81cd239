import assert from "node:assert/strict";
import { test } from "node:test";
import { element, snapshot } from "./browser.mjs";
const { dataTable, showFacts, showPlayers, turnWords } = await import("../../../companion_web/static/js/players.js");

test("whose turn it is, and who must act before", () => {
  assert.equal(turnWords(snapshot()), "It is Bull's turn.");
  assert.equal(turnWords(snapshot({ actors: ["lion"] })), "It is Bull's turn. Lion must act first.");
  assert.equal(turnWords(snapshot({ outcome: { winners: ["bull"], reason: { t: "over" } } })), "The game is over.");
  assert.equal(turnWords(snapshot({ turn: null })), "");
  assert.equal(turnWords(snapshot({ actors: ["box"] })), "", "the tiles are laid out: it is nobody's turn yet");
});

test("each player's name and points, and the turn's badge once", () => {
  showPlayers(snapshot(), null);
  const said = element("players").textContent;
  assert.match(said, /Round 2 · actions/);
  assert.match(said, /Bull/);
  assert.equal(element("players").having("aria-current", "true").length, 1);
});

test("hidden scores are said to be hidden", () => {
  showPlayers(snapshot({ settings: { hidden_scores: true }, scores: { bull: { red: 1 } } }), null);
  assert.match(element("players").textContent, /Scores stay hidden till the end\./);
});

test("tracks, what comes next and notes; nothing is shown of nothing", () => {
  const track = { id: "bag", label: { t: "Tiles in the bag" }, value: 120, max: 143, steps: null, marks: [20] };
  const named = { id: "sun", label: { t: "Sun" }, value: 1, max: null, steps: [{ t: "low" }, { t: "high" }], marks: [] };
  showFacts(snapshot({ view: { tracks: [track, named], coming: [{ t: "the monument pays Bull" }], tables: [], notes: [{ t: "bull plays first" }], highlight: { C4: { t: "here" } } } }));
  const said = element("facts").textContent;
  for (const part of ["120 of 143", "Sun", "high", "the monument pays Bull", "Bull plays first.", "C4", "Here."]) assert.ok(said.includes(part), part);
  showFacts(snapshot({ view: {} }));
  assert.equal(element("facts").hidden, true);
});

test("a table too wide for a phone becomes a list there", () => {
  const wide = dataTable({ title: "Rulers", columns: ["a".repeat(12), "b".repeat(12), "c".repeat(12), "d".repeat(12), "e"], rows: [["x", 1, null, "y", 2]] });
  assert.equal(wide.having("class", "wide").length, 1);
  assert.equal(dataTable({ title: "Rulers", columns: ["a", "b"], rows: [["x", 1]] }).having("class", "wide").length, 0);
  assert.equal(dataTable({ title: "Rulers", columns: null, rows: [] }).textContent, "Rulers: nothing");
});
