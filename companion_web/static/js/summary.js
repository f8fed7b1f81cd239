// The points over time as a plot, and a picture of the result to keep.

import { byId, fill, h, s } from "./dom.js";
import { nameOf, parts } from "./people.js";
import { say, words } from "./words.js";

const W = 640, H = 260, EDGE = 34;

// One number for a plot: the total where there is one, else all points together.
function sum(score) {
  const every = parts(score), total = every.find(([name]) => name === "total");
  return total ? Number(total[1]) || 0 : every.reduce((all, [, n]) => all + (Number(n) || 0), 0);
}

function lines(snapshot) {
  return snapshot.seats.filter(seat => seat.id in (snapshot.scores ?? {}))
    .map(seat => ({ seat, values: [0, ...snapshot.moves.map(move => sum(move.scores?.[seat.id]))] }));
}

const DASHES = ["", "9 4", "3 4", "12 4 3 4", "2 7"];

export function showSummary(snapshot) {
  const box = byId("summary"), plotted = lines(snapshot);
  box.hidden = snapshot.moves.length < 4 || !plotted.length || !plotted.some(({ values }) => values.some(v => v));
  if (box.hidden) return;
  fill(box.lastElementChild, [snapshot.moves.map(m => m.scores), snapshot.outcome, snapshot.you.host], () => [
    plot(plotted),
    h("ul", { class: "legend" }, plotted.map(({ seat, values }, i) => h("li", null, s("svg", { viewBox: "0 0 34 8", class: "dash", "aria-hidden": "true" }, s("path", { d: "M0 4H34", stroke: seat.colour, "stroke-dasharray": DASHES[i % DASHES.length] })), words(seat.name), ": ", h("b", null, String(values.at(-1)))))),
    snapshot.outcome || snapshot.you.host ? h("div", { class: "row" },
      h("a", { class: "button", href: "/api/record.play", download: "" }, say("Play record")),
      h("a", { class: "button", href: "/api/record.json", download: "" }, "JSON"),
      h("button", { type: "button", onclick: () => keepPicture(snapshot, plotted) }, say("Picture"))) : null,
  ]);
}

function scales(plotted) {
  const most = Math.max(1, ...plotted.flatMap(({ values }) => values)), least = Math.min(0, ...plotted.flatMap(({ values }) => values));
  const steps = Math.max(1, plotted[0].values.length - 1);
  return { most, least, x: i => EDGE + (W - EDGE - 12) * i / steps, y: v => H - 26 - (H - 40) * (v - least) / (most - least) };
}

function plot(plotted) {
  const { most, least, x, y } = scales(plotted);
  return s("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", role: "img", "aria-label": say("Points over the moves, a line for each player") },
    [least, Math.round((most + least) / 2), most].map(v => [s("path", { class: "grid", d: `M${EDGE} ${y(v)}H${W - 12}` }), s("text", { x: EDGE - 6, y: y(v), dy: ".35em" }, document.createTextNode(v))]),
    plotted.map(({ seat, values }, i) => s("path", { class: "line", stroke: seat.colour, "stroke-dasharray": DASHES[i % DASHES.length], d: `M${values.map((v, n) => `${x(n)} ${y(v)}`).join("L")}` })));
}

// Drawn on a canvas, so that it can be kept as PNG without asking any other machine.
function keepPicture(snapshot, plotted) {
  const canvas = h("canvas", { width: 2 * W, height: 2 * (H + 130) }), pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.fillStyle = "#fffdf7";
  pen.fillRect(0, 0, W, H + 130);
  pen.fillStyle = "#23201a";
  pen.font = "700 20px system-ui, sans-serif";
  pen.fillText(words(snapshot.title), 16, 32);
  pen.font = "15px system-ui, sans-serif";
  const ending = snapshot.outcome ? `${snapshot.outcome.winners.map(id => nameOf(snapshot, id)).join(", ")}: ${words(snapshot.outcome.reason)}` : "";
  pen.fillText(ending, 16, 56, W - 32);
  const { x, y } = scales(plotted);
  plotted.forEach(({ seat, values }, i) => {
    pen.strokeStyle = pen.fillStyle = seat.colour;
    pen.lineWidth = 3;
    pen.setLineDash(DASHES[i % DASHES.length].split(" ").filter(Boolean).map(Number));
    pen.beginPath();
    values.forEach((v, n) => pen.lineTo(x(n), y(v) + 60));
    pen.stroke();
    pen.fillRect(16 + i * 150, H + 84, 14, 14);
    pen.fillStyle = "#23201a";
    pen.fillText(`${words(seat.name)}: ${values.at(-1)}`, 36 + i * 150, H + 96, 110);
  });
  canvas.toBlob(blob => {
    const link = h("a", { href: URL.createObjectURL(blob), download: "nilometer.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, "image/png");
}
