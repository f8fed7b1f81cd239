import assert from "node:assert/strict";
import { test } from "node:test";
import { element, snapshot } from "./browser.mjs";
const { showMoves } = await import("../../../companion_web/static/js/moves.js");

const failed = error => { throw error; };

test("nobody has moved yet", () => {
  showMoves(snapshot({ moves: [] }), null, failed);
  assert.equal(element("moves").textContent, "Nobody has moved yet.");
});

test("the last move stands first, with what it brought", () => {
  showMoves(snapshot(), null, failed);
  const [list] = element("moves").children;
  assert.deepEqual(list.children.map(item => item.attributes.value), ["2", "1"]);
  assert.match(list.children[0].textContent, /tile black E5\+1 black/);
  assert.match(list.children[1].textContent, /Bull lays a temple on C4\+1 red/);
});

test("only who has a seat may take back", () => {
  const backs = you => {
    showMoves(snapshot({ you }), null, failed);
    return element("moves").having("data-focus", "back-2").length;
  };
  assert.equal(backs({ host: false, seats: ["lion"] }), 1);
  assert.equal(backs({ host: false, seats: [] }), 0);
});

test("of many moves the last twelve are shown, all when asked", () => {
  const moves = Array.from({ length: 15 }, (_, i) => ({ event: i + 2, seat: "bull", text: "bull: pass", words: [], scores: {} }));
  showMoves(snapshot({ moves }), null, failed);
  const [list, more] = element("moves").children;
  assert.equal(list.children.length, 12);
  assert.equal(more.textContent, "All 15 moves");
  more.listeners.click();
  assert.equal(element("moves").children[0].children.length, 15);
});
