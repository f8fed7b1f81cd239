// @ts-check
// The table from across the room: scores, whose turn, the tide or the counter, what happened. Screen kept awake.

import { Board } from "./board.js";
import { byId, fill, h, refill } from "./dom.js";
import { follow } from "./follow.js";
import { keep, wish } from "./footer.js";
import { utter } from "./notice.js";
import { deciding, nameOf, nobodyActs, parts, points } from "./people.js";
import { turnWords } from "./players.js";
import { ask } from "./talk.js";
import { heads, kindOf, lineOf, verdictInWords } from "./verdict.js";
import { learn, namePlaces, say, sentence, words } from "./words.js";

let board = null, planFor = null, told = null, now = null;      // now: the snapshot that is shown

async function drawPlan() {
  planFor = now.game;
  const plan = await ask("/api/plan").catch(() => null);
  if (!plan) {      // a busy table: nothing new may come for long that would ask again
    planFor = null;
    setTimeout(() => { if (planFor === null) drawPlan(); }, 3000);
    return;
  }
  namePlaces(Object.keys(plan.sites));
  board = new Board(plan);
  byId("frame").replaceChildren(board.svg);
  refill();      // what was said before places had names is said anew
  show(now);
}

function drawBoard(snapshot) {
  const v = snapshot.verdict, todo = v.todo.flatMap(t => t.sites ?? []);
  board.show({ ...snapshot.layout, ...v.wrong });
  const kind = v.verdict === "illegal" ? "wrong" : "new";
  board.mark([...(["moved", "illegal", "unfinished"].includes(v.verdict) ? v.sites ?? [] : []).map(site => ({ site, kind })), ...todo.map(site => ({ site, kind: "todo" })),
    ...(snapshot.question?.sites ?? []).map(site => ({ site, kind: "asked" }))]);
}

function score(snapshot, seat) {
  const all = parts(snapshot.scores?.[seat.id]), several = all.some(([name]) => name !== "total"), n = snapshot.standing?.[seat.id];
  return h("li", { class: snapshot.turn === seat.id && !snapshot.outcome && !nobodyActs(snapshot) ? "now" : null, colour: seat.colour },
    h("span", null, nameOf(snapshot, seat.id), snapshot.outcome?.winners.includes(seat.id) ? " ★" : ""), several ? h("span", { class: "all" }, all.map(([name, value]) => points(name, value))) : h("span"), h("b", null, String(n ?? "–")));
}

function show(snapshot) {
  now = snapshot;
  if (planFor !== snapshot.game) drawPlan();
  else if (board) drawBoard(snapshot);
  const view = snapshot.view ?? {}, kind = kindOf(snapshot);
  byId("title").textContent = [words(snapshot.title), deciding(snapshot)].filter(Boolean).join(" · ");
  fill(byId("turn"), [snapshot.turn, snapshot.actors, view.phase, view.round, snapshot.outcome, snapshot.settings?.names], () => [turnWords(snapshot), " ",
    h("small", null, [view.round ? say("Round {n}", { n: view.round }) : null, words(view.phase)].filter(Boolean).join(" · "))]);
  const said = (view.tracks ?? []).filter(t => !t.steps || words(t.steps[t.value]) !== words(view.phase));      // the phase stands above
  const tracks = said.filter(t => t.large).concat(said.filter(t => !t.large)).slice(0, 2);
  fill(byId("tracks"), tracks, () => tracks.map(t => h("li", null, words(t.label), " ", h("b", null, t.steps ? words(t.steps[t.value] ?? t.value) : t.max ? say("{value} of {max}", { value: t.value, max: t.max }) : words(t.value)))));
  fill(byId("scores"), [snapshot.scores, snapshot.standing, snapshot.turn, snapshot.outcome, snapshot.settings?.names], () => snapshot.seats.map(seat => score(snapshot, seat)));
  byId("verdict").dataset.verdict = kind;
  byId("verdict-head").textContent = heads()[kind] ?? kind;
  const last = snapshot.moves.at(-1), line = lineOf(snapshot) || (last?.words?.length ? last.words.map(words).join("; ") : "");
  byId("line").textContent = kind === "busy" ? "" : [line, ...snapshot.verdict.back.slice(0, 2).map(t => sentence(words(t))), ...snapshot.verdict.todo.slice(0, 2).map(t => sentence(words(t.text)))].filter((t, i, all) => t && all.indexOf(t) === i).join(" ");
  const text = verdictInWords(snapshot);
  if (!["busy", "same"].includes(kind) && text !== told) { if (told !== null) utter(text); told = text; }
  document.body.dataset.ready = snapshot.serial;
}

// The screen stays on as long as this page is looked at, where the browser can do that (over https, or on the table's own machine).
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch { /* the television's own settings decide */ }
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) stayAwake(); });
byId("full").addEventListener("click", () => document.documentElement.requestFullscreen?.());
const voice = byId("voice", HTMLInputElement);
voice.checked = wish("voice") === "1";
voice.addEventListener("change", () => keep("voice", voice.checked ? "1" : "0"));

await learn();
stayAwake();
follow(show, state => document.body.classList.toggle("cut-off", state === "lost"));
