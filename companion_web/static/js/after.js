// @ts-check
// After the game: how long it took, who took how long, the greatest gains, the longest wars.

import { byId, fill, h } from "./dom.js";
import { nameOf, seatTag } from "./people.js";
import { dataTable } from "./players.js";
import { ask } from "./talk.js";
import { duration, region, say, words } from "./words.js";

let told = null, toldFor = null;

// The evening in figures, asked for once for each end of the game (or when the host wants to see it before).
export async function chronicle(snapshot) {
  const version = `${snapshot.game} ${snapshot.moves.at(-1)?.event} ${Boolean(snapshot.outcome)}`;
  if (toldFor !== version) {
    toldFor = version;
    told = ask("/api/chronicle").catch(() => { toldFor = null; return null; });
  }
  return told;
}

export async function showAfter(snapshot) {
  const box = byId("after");
  box.hidden = !snapshot.outcome;
  if (box.hidden) return;
  const evening = await chronicle(snapshot);
  box.hidden = !evening;
  if (evening) fill(box.lastElementChild, [evening, snapshot.seats, snapshot.settings?.names], () => [
    h("ul", { class: "figures" }, figures(snapshot, evening).map(line => h("li", null, line))),
    dataTable({ title: say("Time per player"), columns: [say("player"), say("moves"), say("total"), say("longest move")],
      rows: evening.seats.map(s => [nameOf(snapshot, s.id), s.moves, duration(s.seconds), s.at ? say("{time} (move {n})", { time: duration(s.longest), n: s.at }) : "–"]) }),
    evening.gains.length ? [h("h3", null, say("The greatest gains")), h("ul", { class: "figures" }, evening.gains.map(g => h("li", null, h("b", null, `+${g.points}`), " ", seatTag(snapshot, g.seat), " ", say("move {n}", { n: g.move }), ": ", g.words.map(words).join("; "))))] : null,
    evening.tables.map(dataTable),
  ]);
}

export function figures(snapshot, evening) {
  const day = new Date(1000 * evening.ended).toLocaleDateString(region, { day: "numeric", month: "long", year: "numeric" });
  const out = [say("{day}: {n} moves in {time}", { day, n: evening.moves, time: duration(evening.played) })];
  if (evening.undone) out.push(evening.undone === 1 ? say("Taken back once.") : say("Taken back {n} times.", { n: evening.undone }));
  if (evening.edits) out.push(evening.edits === 1 ? say("Corrected by hand once.") : say("Corrected by hand {n} times.", { n: evening.edits }));
  return out;
}
