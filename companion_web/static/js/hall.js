// All tables of a club, asked for every two seconds; the browser's cache answers when nothing has changed.

import { byId, fill, h } from "./dom.js";
import { learn, say, words } from "./words.js";

const EVERY = 2000;

const total = score => typeof score === "number" ? score : Object.values(score ?? {}).join(" · ");

function table(t) {
  const name = h("h2", {}, t.page && /^https?:\/\//.test(t.page) ? h("a", { href: t.page }, String(t.name)) : String(t.name));
  const seats = Array.isArray(t.seats) ? t.seats : [];
  return h("li", { "data-verdict": String(t.verdict), "data-online": t.online ? "yes" : "no" }, name,
    h("p", {}, words(t.title), " · ", say("{n} moves", { n: t.moves ?? 0 })),
    h("p", {}, !t.online ? say("not reachable") : t.camera !== "ok" ? say("the camera sees nothing") : words(t.text)),
    h("table", {}, seats.map(s => h("tr", {}, h("th", { scope: "row" }, words(s.name), s.id === t.turn ? " ◂" : ""),
      h("td", {}, String(total(t.scores?.[s.id])), t.winners?.includes(s.id) ? " ★" : "")))));
}

async function look() {
  try {
    const answer = await fetch("/api/tables");
    const now = await answer.json();
    fill(byId("tables"), now.tables, () => now.tables.map(table));
    byId("count").textContent = now.broker ? now.tables.length === 1 ? say("one table") : say("{n} tables", { n: now.tables.length }) : say("the broker cannot be reached");
  } catch {
    byId("count").textContent = say("the broker cannot be reached");
  }
  setTimeout(look, EVERY);
}

await learn();
look();
