// The board's page: follows the table and draws what it says.

import { byId, fill, h } from "./dom.js";
import { Board, boardInWords, contentsInWords } from "./board.js";
import { showSay } from "./declare.js";
import { correct } from "./edit.js";
import { follow } from "./follow.js";
import { footer, keep, keepPages, wish } from "./footer.js";
import { showMoves } from "./moves.js";
import { notice, speak } from "./notice.js";
import { mine, seated } from "./people.js";
import { showFacts, showPlayers, turnWords } from "./players.js";
import { showPause } from "./pause.js";
import { showOffers } from "./bargain.js";
import { openDialog, readRules, ruleButton } from "./rules.js";
import { showAfter } from "./after.js";
import { showSummary } from "./summary.js";
import { ask, tell } from "./talk.js";
import { cameraWords, showQuestion, showTodo, showTrouble, showVerdict, verdictInWords } from "./verdict.js";
import { learn, say, words } from "./words.js";

let snapshot = null, plan = null, tapped = null, board = null, asked = null, planFor = null, fresh = [];

function failed(problem) {
  speak(problem.message, true);
  openDialog(say("That did not work"), h("p", { class: "fault" }, problem.message),
    problem.violations?.length ? h("ul", { class: "broken" }, problem.violations.map(({ rule, text }) => h("li", null, ruleButton(snapshot.game, rule), " ", words(text)))) : null);
}

function showLink(state) {
  const item = byId("link");
  if (item.dataset.state === state) return;
  const before = item.dataset.state;
  item.dataset.state = state;
  item.textContent = { on: say("connected"), lost: say("connection lost, trying again"), slow: say("many phones: looks now and then") }[state];
  document.body.classList.toggle("cut-off", state === "lost");
  if (state === "lost") speak(say("connection lost, trying again"));
  else if (before === "lost") speak(say("connected again"));
}

function showCamera(camera) {
  const item = byId("camera");
  item.hidden = !camera;
  if (!camera) return;
  item.dataset.state = camera.state === "ok" ? "on" : "lost";
  fill(item, [camera.state], () => cameraWords(camera.state));
  const exact = [camera.by ? say("by {by}", { by: say(camera.by) }) : null, camera.error_px === null || camera.error_px === undefined ? null : say("off by {n} px", { n: camera.error_px }), camera.fps ? say("{n} pictures a second", { n: Math.round(camera.fps * 10) / 10 }) : null].filter(Boolean).join(", ");
  item.title = exact;
}

// The demo's host can break the simulated camera and see what the table makes of it.
function showSwitches() {
  const box = byId("switches"), { switches, you } = snapshot;
  box.hidden = !you.host || !switches?.length;
  if (!box.hidden) fill(box.lastElementChild, switches, () => h("ul", null, switches.map(({ id, text, on }) => h("li", null, h("label", null,
    h("input", { type: "checkbox", checked: on, "data-focus": `switch-${id}`, onchange: e => tell("/api/host/switch", { name: id, on: e.target.checked ? 1 : 0 }).catch(failed) }), " ", words(text))))));
}

function showBoard() {
  if (!plan) return;
  const changed = board.show(snapshot.layout);
  if (changed.length) fresh = changed;
  const marks = new Map();
  const put = (sites, kind) => (sites ?? []).forEach(site => marks.set(site, kind));
  put(Object.keys(snapshot.view?.highlight ?? {}), "note");
  put(snapshot.verdict.verdict === "moved" ? fresh : [], "new");
  put(snapshot.verdict.todo.flatMap(t => t.sites ?? []), "todo");
  put(snapshot.pause?.differs?.map(d => d.site), "todo");
  put(snapshot.question?.sites ?? snapshot.decision?.sites, "asked");
  put(snapshot.verdict.verdict === "illegal" ? snapshot.verdict.sites ?? [] : [], "wrong");
  board.mark([...marks].map(([site, kind]) => ({ site, kind })));
  fill(byId("words").querySelector("dl"), snapshot.layout, () => boardInWords(plan, snapshot.layout));
}

async function drawPlan() {
  const game = snapshot.game;
  planFor = game;
  try {
    plan = await ask("/api/plan");
  } catch {
    planFor = null;
    return;
  }
  board = new Board(plan, { label: say("The board, drawn; below it stands what lies where in words."), tapped: readSite });
  board.turn(Number(wish("turned") ?? 0));
  byId("frame").replaceChildren(board.svg);
  show(snapshot);
}

function readSite(site) {
  tapped = site;
  const contents = snapshot.layout[site] ?? [], why = snapshot.view?.highlight?.[site];
  byId("site").textContent = [`${site}: ${contents.length ? contentsInWords(plan, contents) : say("nothing")}`, why ? words(why) : null].filter(Boolean).join(". ");
}

function show(next) {
  const first = snapshot === null;
  snapshot = next;
  if (planFor !== snapshot.game) drawPlan();
  byId("title").textContent = words(snapshot.title);
  showTrouble(snapshot);
  showCamera(snapshot.camera);
  const changed = showVerdict(snapshot);
  showPause(snapshot, plan, failed);
  showOffers(snapshot, failed);
  showTodo(snapshot);
  showQuestion(snapshot, plan, failed);
  showBoard();
  showPlayers(snapshot, plan);
  showSay(snapshot, plan, failed);
  showFacts(snapshot);
  showMoves(snapshot, plan, failed);
  showSummary(snapshot);
  showAfter(snapshot);
  showSwitches();
  byId("correct").hidden = !snapshot.you.host || !plan;
  if (changed && !first) tellVerdict();
  const q = snapshot.question;
  if (q && q.id !== asked && seated(snapshot) && (!q.seat || mine(snapshot, q.seat))) {
    speak(words(q.text));
    notice("question");
  }
  asked = q?.id ?? null;
  if (first) turn = snapshot.turn;
  document.body.dataset.ready = snapshot.serial;
}

let told = null, turn = null;
function tellVerdict() {
  const kind = snapshot.verdict.verdict, text = `${verdictInWords(snapshot)}. ${turnWords(snapshot)}`;
  if (text === told) return;
  told = text;
  if (kind !== "busy") speak(text, kind === "illegal");
  const now = snapshot.outcome ? null : snapshot.turn, mineNow = now !== turn && snapshot.you.seats.includes(now) && kind !== "illegal";
  turn = now;
  notice(mineNow ? "turn" : kind);
}

// Who wishes to hear or feel the table tries it at once.
for (const id of ["sound", "buzz"]) byId(id).addEventListener("change", e => { if (e.target.checked) setTimeout(() => notice("question"), 50); });
byId("buzz").parentElement.hidden = !navigator.vibrate;

byId("zoom").addEventListener("click", e => {
  const large = byId("frame").classList.toggle("large");
  e.currentTarget.setAttribute("aria-pressed", String(large));
});
byId("turn-board").addEventListener("click", () => {
  if (!board) return;
  board.turn(board.turned + 1);
  keep("turned", board.turned);
});
byId("correct").addEventListener("click", () => correct(snapshot, plan, tapped ?? Object.keys(plan.sites)[0], failed));
byId("open-rules").addEventListener("click", () => { if (snapshot) readRules(snapshot.game); });

footer();
await learn();
follow(show, showLink);
keepPages();
