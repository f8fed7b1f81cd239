// All tables of a club; every two seconds the hall is asked what has changed.

import { byId, h } from "./dom.js";
import { learn, say, words } from "./words.js";

const EVERY = 2000;
const tables = new Map();      // id -> { told, card }
let version = "";

const total = score => typeof score === "number" ? score : Object.values(score ?? {}).join(" · ");

function card(t) {
  const name = h("h2", {}, t.page && /^https?:\/\//.test(t.page) ? h("a", { href: t.page }, String(t.name)) : String(t.name));
  return h("li", { "data-verdict": String(t.verdict), "data-online": t.online ? "yes" : "no" }, name,
    h("p", {}, words(t.title), " · ", say("{n} moves", { n: t.moves ?? 0 })),
    h("p", {}, !t.online ? say("not reachable") : t.camera !== "ok" ? say("the camera sees nothing") : words(t.text)),
    h("table", {}, (t.seats ?? []).map(s => h("tr", {}, h("th", { scope: "row" }, words(s.name), s.id === t.turn ? " ◂" : ""),
      h("td", {}, String(total(t.scores?.[s.id])), t.winners?.includes(s.id) ? " ★" : "")))));
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
    version = now.version;
    byId("count").textContent = now.broker ? tables.size === 1 ? say("one table") : say("{n} tables", { n: tables.size }) : say("the broker cannot be reached");
  } catch {
    byId("count").textContent = say("the broker cannot be reached");
  }
  setTimeout(look, EVERY);
}

await learn();
look();
