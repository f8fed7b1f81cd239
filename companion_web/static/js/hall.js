// @ts-check
// All tables of a club; every two seconds the hall is asked what has changed.

import { byId, h } from "./dom.js";
import { dataTable } from "./players.js";
import { learn, say, words } from "./words.js";

const EVERY = 2000;
const tables = new Map();      // id -> { told, card }
let version = "";

// The number that decides, where the table tells it.
const total = (t, id) => t.points?.[id] ?? (typeof t.scores?.[id] === "number" ? t.scores[id] : Object.values(t.scores?.[id] ?? {}).join(" · "));
const who = seat => seat.person ? `${seat.person} (${words(seat.name)})` : words(seat.name);

function card(t) {
  const name = h("h2", {}, t.page && /^https?:\/\//.test(t.page) ? h("a", { href: t.page }, String(t.name)) : String(t.name));
  return h("li", { "data-verdict": String(t.verdict), "data-online": t.online ? "yes" : "no" }, name,
    h("p", {}, words(t.title), " · ", say("{n} moves", { n: t.moves ?? 0 })),
    h("p", {}, !t.online ? say("not reachable") : t.camera !== "ok" ? say("the camera sees nothing") : words(t.text)),
    h("table", {}, (t.seats ?? []).map(s => h("tr", {}, h("th", { scope: "row" }, who(s), s.id === t.turn ? " ◂" : ""),
      h("td", {}, String(total(t, s.id)), t.winners?.includes(s.id) ? " ★" : "")))));
}

// The night so far: who won how often, by the names people sat down with, and every game that ended.
function night(results) {
  const people = new Map();
  for (const { seats } of results) {
    for (const seat of seats) {
      if (!seat.person) continue;
      const one = people.get(seat.person) ?? { played: 0, won: 0 };
      people.set(seat.person, { played: one.played + 1, won: one.won + (seat.won ? 1 : 0) });
    }
  }
  const rows = [...people].sort(([, a], [, b]) => b.won - a.won || a.played - b.played);
  byId("night").hidden = !results.length;
  byId("standings").replaceChildren(rows.length ? dataTable({ title: say("Standings"), columns: [say("player"), say("games"), say("won")], rows: rows.map(([name, one]) => [name, one.played, one.won]) }) : "");
  byId("ended").replaceChildren(...[...results].reverse().map(one => h("li", {}, h("b", {}, one.table), " · ", words(one.title), ": ",
    [...one.seats].sort((a, b) => (b.won - a.won) || (b.points ?? 0) - (a.points ?? 0)).map(seat => `${who(seat)} ${seat.points ?? ""}${seat.won ? " ★" : ""}`).join(", "))));
}

// One table that cannot be shown keeps none of the others off the page.
function shown(t) {
  try {
    return card(t);
  } catch {
    return h("li", { "data-online": "no" }, h("h2", {}, String(t?.id)), h("p", {}, say("what this table says cannot be shown")));
  }
}

async function look() {
  try {
    const answer = await fetch(`/api/tables?since=${encodeURIComponent(version)}`);
    const now = await answer.json();
    if (now.full) tables.clear();
    for (const id of now.gone) tables.delete(id);
    for (const t of now.tables) tables.set(t.id, { told: t, card: shown(t) });
    if (now.full || now.gone.length || now.tables.length) {
      const key = ({ told }) => `${told.name}`.toLowerCase();
      byId("tables").replaceChildren(...[...tables.values()].sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0).map(t => t.card));
    }
    if (now.results) night(now.results);
    version = now.version;
    byId("count").textContent = now.broker ? tables.size === 1 ? say("one table") : say("{n} tables", { n: tables.size }) : say("the broker cannot be reached");
  } catch {
    byId("count").textContent = say("the broker cannot be reached");
  }
  setTimeout(look, EVERY);
}

await learn();
look();
