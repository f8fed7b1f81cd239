import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser.mjs";
const { Board } = await import("../../../companion_web/static/js/board.js");

const SQUARE = { outlines: ["M50 50L70 50L70 70L50 70Z"], box: [50, 50, 20, 20], spots: [[60, 60]], reads: "cluster", scale: 1 };
const CELL = { outlines: ["M0 10L10 0L30 5L40 20L20 40L5 30Z"], box: [0, 0, 40, 40], spots: [[22, 24], [10, 12]], reads: "cluster", scale: 1 };
const named = sites => new Board({ size: [200, 100], board: [], pieces: {}, sites }).names.children.map(({ attributes, children }) => [children[0], attributes]);

test("a square's name stands in its corner, another place's where pieces lie first", () => {
  const [[name, corner]] = named({ C4: SQUARE });
  assert.deepEqual([name, corner.x, corner.class], ["C4", "51", undefined]);
  const [[cell, inside]] = named({ "far-land-1": CELL });
  assert.deepEqual([cell, inside.x, inside.class], ["far-land 1", "22", "over"]);
  assert.ok(Number(inside.y) < 24 && Number(inside.y) > 10, inside.y);
});

test("no name leaves the board", () => {
  const [[, edge]] = named({ "north-pacific": { ...CELL, spots: [[1, 24]] } });
  assert.ok(Number(edge.x) > 1, edge.x);
});
