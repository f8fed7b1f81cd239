// @ts-check
// The evening's summary as a picture to keep or share: drawn on a canvas, so that no other machine is asked.

import { figures } from "./after.js";
import { DASHES, H, W, scales } from "./chart.js";
import { h } from "./dom.js";
import { nameOf, parts } from "./people.js";
import { say, words } from "./words.js";

const LINE = 24, EDGE = 16, PAPER = "#fffdf7", INK = "#23201a", SOFT = "#5d5546";

export function summaryPicture(snapshot, plotted, evening) {
  const tables = (evening?.tables ?? []).map(t => ({ head: words(t.title), rows: [t.columns, ...t.rows.slice(0, 3)].map(row => row.map(words).filter(Boolean).join(" · ")) }));
  const lines = 3 + plotted.length + (evening ? figures(snapshot, evening).length : 0) + tables.reduce((n, t) => n + 1.4 + t.rows.length, 0);
  const height = H + 40 + LINE * lines, canvas = h("canvas", { width: 2 * W, height: 2 * height }), pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let y = EDGE + 18;
  const write = (text, { font = "15px", colour = INK, x = EDGE } = {}) => {
    pen.font = `${font} system-ui, sans-serif`;
    pen.fillStyle = colour;
    pen.fillText(text, x, y, W - EDGE - x);
    y += LINE;
  };
  pen.scale(2, 2);
  pen.fillStyle = PAPER;
  pen.fillRect(0, 0, W, height);
  write([words(snapshot.title), snapshot.table?.name].filter(Boolean).join(" · "), { font: "700 20px" });
  if (snapshot.outcome) write(`${say("Winner: {names}", { names: snapshot.outcome.winners.map(id => nameOf(snapshot, id)).join(", ") })} (${words(snapshot.outcome.reason)})`);
  if (evening) for (const line of figures(snapshot, evening)) write(line, { colour: SOFT });
  plotted.forEach(({ seat, values }, i) => {
    stroke(pen, seat.colour, DASHES[i % DASHES.length], [[EDGE, y - 5], [EDGE + 28, y - 5]]);
    const score = parts(snapshot.scores[seat.id]).filter(([name]) => name !== "total").map(([name, n]) => `${n} ${say(name)}`).join(", ");
    write(`${nameOf(snapshot, seat.id)}: ${values.at(-1)}${score ? ` (${score})` : ""}`, { x: EDGE + 38 });
  });
  const { x: across, y: up } = scales(plotted), top = y;
  plotted.forEach(({ seat, values }, i) => stroke(pen, seat.colour, DASHES[i % DASHES.length], values.map((v, n) => [across(n), up(v) + top - 14])));
  y += H;
  for (const { head, rows } of tables) {
    write(head, { font: "700 15px" });
    rows.forEach(row => write(row, { colour: SOFT }));
    y += 0.4 * LINE;
  }
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

// A darker line below the coloured one: white on paper is seen, too.
function stroke(pen, colour, dash, points) {
  pen.setLineDash(dash.split(" ").filter(Boolean).map(Number));
  for (const [style, width] of [[SOFT, 4.6], [colour, 3]]) {
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.beginPath();
    points.forEach(([x, y]) => pen.lineTo(x, y));
    pen.stroke();
  }
  pen.setLineDash([]);
}

export function keep(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
