import assert from "node:assert/strict";
import { test } from "node:test";
import { element, snapshot } from "./browser.mjs";
const { doing, kindOf, lineOf, showQuestion, showTodo, showVerdict, showWrong, verdictInWords, winners } = await import("../../../companion_web/static/js/verdict.js");

const verdict = more => ({ ...snapshot().verdict, ...more });
const moved = { verdict: verdict({ verdict: "moved", actions: ["bull: tile red C4", "lion: tile black E5"] }) };
const over = { outcome: { winners: ["bull", "lion"], reason: { t: "the treasures are taken" } } };

test("nothing is well while the camera sees nothing, and the end is the end", () => {
  assert.equal(kindOf(snapshot()), "same");
  assert.equal(kindOf(snapshot({ camera: { state: "dark" } })), "blind");
  assert.equal(kindOf(snapshot({ camera: { state: "dark" }, verdict: verdict({ verdict: "illegal" }) })), "illegal");
  assert.equal(kindOf(snapshot(over)), "over");
  const births = snapshot({ ...over, verdict: verdict({ verdict: "unfinished", actions: ["bull: done"], todo: [{ text: { t: "put a pawn on C4" }, sites: ["C4"] }] }) });
  assert.equal(kindOf(births), "over", "who has won is told, whatever may still be laid");
  assert.match(lineOf(births), /^Bull, Lion share the win\./);
});

test("what was done is said in words, else in the notation", () => {
  assert.equal(lineOf(snapshot(moved)), "Bull lays a temple on C4. Tile black E5.");
  assert.equal(doing(snapshot(), snapshot().moves[0])[0].textContent, "Bull lays a temple on C4");
});

test("while the board is laid out the table says what it waits for", () => {
  const view = { ...snapshot().view, left: { t: "tiles still to be laid out: {n}", a: { n: 36 } } };
  assert.equal(lineOf(snapshot({ actors: ["box"], view })), "Tiles still to be laid out: 36.");
  assert.equal(lineOf(snapshot({ view })), "", "whose turn it is stands with the players");
});

test("what is wrong is said with its reason", () => {
  const broken = verdict({ verdict: "illegal", violations: [{ rule: "T19", text: { t: "farms lie on the river" } }], back: [{ t: "take it off E4" }] });
  assert.equal(lineOf(snapshot({ verdict: broken })), "Farms lie on the river.");
  showWrong(snapshot({ verdict: broken }));
  assert.match(element("wrong").textContent, /Take it off E4\..*T19 Farms lie on the river\./);
});

test("who has won, alone or together", () => {
  assert.equal(winners(snapshot(over)), "Bull, Lion share the win.");
  assert.equal(winners(snapshot({ outcome: { winners: ["lion"], reason: { t: "x" } } })), "Lion wins.");
  assert.match(lineOf(snapshot({ ...over, standing: { bull: 2, lion: 5 } })), /\. Lion 5, Bull 2\. /, "what decides, the most first");
  assert.equal(lineOf(snapshot(over)), "Bull, Lion share the win. Bull 0, Lion 0. The treasures are taken.");
});

test("a screen reader hears the head, the line and the gains", () => {
  assert.equal(verdictInWords(snapshot(moved)), "Done. Bull lays a temple on C4. Tile black E5. Bull +1 red. Lion +1 black.");
});

test("the lamp, the to-dos and the question", () => {
  showVerdict(snapshot(moved));
  assert.equal(element("verdict").dataset.verdict, "moved");
  showTodo(snapshot({ verdict: verdict({ todo: [{ text: { t: "put a king on C4" }, sites: ["C4"], seat: "bull" }] }) }));
  assert.match(element("todo").textContent, /Bull Put a king on C4\./);
  showTodo(snapshot());
  assert.equal(element("todo").hidden, true);
  const question = { id: "q1", seat: "lion", text: { t: "how many?" }, sites: [], answers: [{ text: { t: "none" }, picture: null }] };
  showQuestion(snapshot({ question }), null, () => {});
  assert.match(element("question").textContent, /Lion How many\?None.*Lion answers on their own phone, or the host\./);
});
