// @ts-check
// The points over time, a line for each player.

import { h, s } from "./dom.js";
import { nameOf } from "./people.js";
import { say } from "./words.js";

export const W = 640, H = 260;
const EDGE = 34;

// The number that decides, after each move.
export function lines(snapshot) {
  return snapshot.seats.filter(seat => seat.id in (snapshot.standing ?? {}))
    .map(seat => ({ seat, values: [snapshot.opening_standing?.[seat.id] ?? 0, ...snapshot.moves.map(move => move.standing?.[seat.id] ?? 0)] }));
}

export const DASHES = ["", "9 4", "3 4", "12 4 3 4", "2 7"];

export function scales(plotted) {
  const most = Math.max(1, ...plotted.flatMap(({ values }) => values)), least = Math.min(0, ...plotted.flatMap(({ values }) => values));
  const steps = Math.max(1, plotted[0].values.length - 1);
  return { most, least, x: i => EDGE + (W - EDGE - 12) * i / steps, y: v => H - 26 - (H - 40) * (v - least) / (most - least) };
}

export function plot(plotted) {
  const { most, least, x, y } = scales(plotted);
  return s("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", role: "img", "aria-label": say("Points over the moves, a line for each player") },
    [least, Math.round((most + least) / 2), most].map(v => [s("path", { class: "grid", d: `M${EDGE} ${y(v)}H${W - 12}` }), s("text", { x: EDGE - 6, y: y(v), dy: ".35em" }, document.createTextNode(String(v)))]),
    plotted.map(({ seat, values }, i) => twice(seat.colour, DASHES[i % DASHES.length], `M${values.map((v, n) => `${x(n)} ${y(v)}`).join("L")}`)));
}

export const legend = (snapshot, plotted) => h("ul", { class: "legend" }, plotted.map(({ seat, values }, i) => h("li", null,
  s("svg", { viewBox: "0 0 34 8", class: "dash", "aria-hidden": "true" }, twice(seat.colour, DASHES[i % DASHES.length], "M0 4H34")), nameOf(snapshot, seat.id), ": ", h("b", null, String(values.at(-1))))));

// A line of the page's own ink below the coloured one: a white player's is seen by day, a black one's at night.
const twice = (stroke, dash, d) => s("g", null, s("path", { class: "casing", "stroke-dasharray": dash, d }), s("path", { class: "line", stroke, "stroke-dasharray": dash, d }));
