// The points over time as a plot; what there is to keep and to share of a game.

import { byId, fill, h, s } from "./dom.js";
import { chronicle } from "./after.js";
import { deciding, nameOf } from "./people.js";
import { keep, summaryPicture } from "./picture.js";
import { say, words } from "./words.js";

export const W = 640, H = 260;
const EDGE = 34;

// The number that decides, after each move.
export function lines(snapshot) {
  return snapshot.seats.filter(seat => seat.id in (snapshot.standing ?? {}))
    .map(seat => ({ seat, values: [snapshot.opening_standing?.[seat.id] ?? 0, ...snapshot.moves.map(move => move.standing?.[seat.id] ?? 0)] }));
}

export const DASHES = ["", "9 4", "3 4", "12 4 3 4", "2 7"];

export function showSummary(snapshot) {
  const box = byId("summary"), plotted = lines(snapshot);
  box.hidden = snapshot.moves.length < 4 || !plotted.length || !plotted.some(({ values }) => values.some(v => v));
  if (box.hidden) return;
  fill(box.lastElementChild, [snapshot.moves.map(m => m.standing), snapshot.outcome, snapshot.you.host, snapshot.settings?.names], () => [
    deciding(snapshot) ? h("p", { class: "hint" }, deciding(snapshot)) : null,
    plot(plotted),
    legend(snapshot, plotted),
    snapshot.outcome || snapshot.you.host ? h("div", { class: "row" },
      h("a", { class: "button strong", href: "/api/record.html", download: "" }, say("As one page")),
      h("a", { class: "button", href: "/api/record.play", download: "" }, say("Move list (.play)")),
      h("a", { class: "button", href: "/api/record.json", download: "" }, "JSON"),
      h("a", { class: "button", href: "/api/record.journal", download: "" }, say("The whole game")),
      h("button", { type: "button", onclick: async () => keep(await picture(snapshot, plotted), "nilometer.png") }, say("Picture")),
      navigator.canShare ? h("button", { type: "button", onclick: () => share(snapshot, plotted) }, say("Share")) : null) : null,
    h("p", null, h("a", { href: "/games" }, say("All games of this table"))),
  ]);
}

export function scales(plotted) {
  const most = Math.max(1, ...plotted.flatMap(({ values }) => values)), least = Math.min(0, ...plotted.flatMap(({ values }) => values));
  const steps = Math.max(1, plotted[0].values.length - 1);
  return { most, least, x: i => EDGE + (W - EDGE - 12) * i / steps, y: v => H - 26 - (H - 40) * (v - least) / (most - least) };
}

export function plot(plotted) {
  const { most, least, x, y } = scales(plotted);
  return s("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", role: "img", "aria-label": say("Points over the moves, a line for each player") },
    [least, Math.round((most + least) / 2), most].map(v => [s("path", { class: "grid", d: `M${EDGE} ${y(v)}H${W - 12}` }), s("text", { x: EDGE - 6, y: y(v), dy: ".35em" }, document.createTextNode(v))]),
    plotted.map(({ seat, values }, i) => twice(seat.colour, DASHES[i % DASHES.length], `M${values.map((v, n) => `${x(n)} ${y(v)}`).join("L")}`)));
}

export const legend = (snapshot, plotted) => h("ul", { class: "legend" }, plotted.map(({ seat, values }, i) => h("li", null,
  s("svg", { viewBox: "0 0 34 8", class: "dash", "aria-hidden": "true" }, twice(seat.colour, DASHES[i % DASHES.length], "M0 4H34")), nameOf(snapshot, seat.id), ": ", h("b", null, String(values.at(-1))))));

// A line of the page's own ink below the coloured one: a white player's is seen by day, a black one's at night.
const twice = (stroke, dash, d) => s("g", null, s("path", { class: "casing", "stroke-dasharray": dash, d }), s("path", { class: "line", stroke, "stroke-dasharray": dash, d }));

async function picture(snapshot, plotted) {
  return summaryPicture(snapshot, plotted, await chronicle(snapshot));
}

// Where the phone can hand a file on to another program; else the picture is kept as a file.
async function share(snapshot, plotted) {
  const file = new File([await picture(snapshot, plotted)], "nilometer.png", { type: "image/png" });
  if (navigator.canShare?.({ files: [file] })) await navigator.share({ files: [file], title: words(snapshot.title) }).catch(() => {});
  else keep(file, file.name);
}
