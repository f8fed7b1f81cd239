import assert from "node:assert/strict";
import { test } from "node:test";
import { snapshot } from "./browser.mjs";
const { deciding, gained, mine, nameOf, parts, points, seatTag, seated } = await import("../../../companion_web/static/js/people.js");

test("a seat is called by who sits there, and by its own name", () => {
  const one = snapshot({ settings: { hidden_scores: false, names: { lion: "Anna" } } });
  assert.equal(nameOf(one, "lion"), "Anna (Lion)");
  assert.equal(nameOf(one, "bull"), "Bull");
  assert.equal(nameOf(one, "table"), "table");
  assert.equal(seatTag(one, "bull").attributes["--colour"], "#c02020");
});

test("whose phone this is", () => {
  const one = snapshot();
  assert.ok(mine(one, "bull") && !mine(one, "lion") && seated(one));
  assert.ok(mine(snapshot({ you: { host: true, seats: [] } }), "lion"));
  assert.ok(!seated(snapshot({ you: { host: false, seats: [] } })));
});

test("a score's parts, the total last", () => {
  assert.deepEqual(parts({ total: 5, red: 3, black: 2 }), [["red", 3], ["black", 2], ["total", 5]]);
  assert.deepEqual(parts(7), [["total", 7]]);
  assert.deepEqual(parts(null), []);
});

test("what a move brought; a total is told only where nothing else is", () => {
  assert.deepEqual(gained({ bull: { red: 1, total: 1 } }, { bull: { red: 3, total: 3 }, lion: 2 }), [["bull", "red", 2], ["lion", "total", 2]]);
  assert.deepEqual(gained(null, { bull: 0 }), []);
  assert.deepEqual(gained({ bull: 4 }, { bull: 1 }), [["bull", "total", -3]]);
});

test("points are a number and what they are of", () => {
  assert.equal(points("red", 2, true).textContent, "+2 red");
  assert.equal(points("total", -3, true).textContent, "-3");
});

test("what decides is said where points are of several sorts", () => {
  assert.equal(deciding(snapshot()), "The weakest colour decides.");
  assert.equal(deciding(snapshot({ scores: { bull: 3 } })), "");
});
