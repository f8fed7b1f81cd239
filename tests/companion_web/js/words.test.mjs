import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser.mjs";
const { duration, namePlaces, placeName, say, sentence, words } = await import("../../../companion_web/static/js/words.js");

test("a sentence is filled with its arguments, and they with theirs", () => {
  assert.equal(say("take {it} off {site}", { it: { t: "the {colour} farm", a: { colour: "blue" } }, site: "C4" }), "take the blue farm off C4");
  assert.equal(say("{{seat}}: {missing}", {}), "{seat}: {missing}");
  assert.equal(words({ t: "{n} of {all}", a: { n: 1200, all: null } }), "1,200 of ");
});

test("numbers, words and nothing", () => {
  assert.equal(words(1234.5), "1,234.5");
  assert.equal(words("temple"), "temple");
  assert.equal(words(null), "");
  assert.equal(words(undefined), "");
});

test("a place is named as people say it", () => {
  assert.equal(placeName("australia-3.forest1"), "australia 3, forest 1");
  assert.equal(placeName("C4"), "C4");
  namePlaces(["asia-1", "asia-2"]);
  assert.equal(words("asia-1, asia-2"), "asia 1, asia 2");
  namePlaces([]);
});

test("a sentence begins with a capital and ends once", () => {
  assert.equal(sentence("ready"), "Ready.");
  assert.equal(sentence("really?"), "Really?");
  assert.equal(sentence(""), "");
});

test("how long something took", () => {
  assert.deepEqual([35, 240, 4800].map(duration), ["35 s", "4 min", "1 h 20 min"]);
});
