// @ts-check
// The board's page: follows the table and draws what it says.

import { byId, fill, h, refill } from "./dom.js";
import { Board, boardInWords, contentsInWords } from "./board.js";
import { showSay } from "./declare.js";
import { mayGo, stopAsking, whyNot } from "./learn.js";
import { askPlace } from "./tap.js";
import { follow } from "./follow.js";
import { footer, keep, keepPages, wish } from "./footer.js";
import { showMoves } from "./moves.js";
import { notice, speak, utter } from "./notice.js";
import { mine, seated } from "./people.js";
import { showFacts, showPlayers, turnWords } from "./players.js";
import { showPause } from "./pause.js";
import { showOffers } from "./bargain.js";
import { openDialog, readRules, ruleButton } from "./rules.js";
import { showAfter } from "./after.js";
import { showSummary } from "./summary.js";
import { ask, tell } from "./talk.js";
import { cameraWords, kindOf, showQuestion, showTodo, showTrouble, showVerdict, showWrong, verdictInWords } from "./verdict.js";
import { learn, namePlaces, placeName, say, sentence, words } from "./words.js";

let snapshot = null, plan = null, board = null, asked = null, planFor = null, told = null, turn = null;

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
  // What hands left where nothing allows it is drawn, too: it lies there.
  board.show({ ...snapshot.layout, ...snapshot.verdict.wrong });
  const marks = new Map();
  const put = (sites, kind) => (sites ?? []).forEach(site => marks.set(site, kind));
  put(Object.keys(snapshot.view?.highlight ?? {}), "note");
  put(mayGo(), "may");
  put(["moved", "unfinished"].includes(snapshot.verdict.verdict) ? snapshot.verdict.sites : [], "new");
  if (snapshot.pause?.differs) put(Object.keys(snapshot.layout).filter(site => !snapshot.pause.differs.some(d => d.site === site)), "new");
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
  } catch {      // a busy table: nothing new may come for long that would ask again
    planFor = null;
    setTimeout(() => { if (planFor === null) drawPlan(); }, 3000);
    return;
  }
  namePlaces(Object.keys(plan.sites));
  refill();
  board = new Board(plan, { label: say("The board, drawn; below it stands what lies where in words."), tapped: readSite });
  board.turn(Number(wish("turned") ?? 0));
  byId("frame").replaceChildren(board.svg);
  show(snapshot);
}

async function readSite(site) {
  if (await whyNot(snapshot, plan, site, failed)) return;
  const contents = snapshot.layout[site] ?? [], why = snapshot.view?.highlight?.[site];
  byId("site").textContent = [`${placeName(site)}: ${contents.length ? contentsInWords(plan, contents) : say("nothing")}`, why ? words(why) : null].filter(Boolean).join(". ");
  if (seated(snapshot)) askPlace(snapshot, plan, site, failed);
}

function show(next) {
  const first = snapshot === null;
  snapshot = next;
  if (planFor !== snapshot.game) drawPlan();
  byId("title").textContent = words(snapshot.title);
  showTrouble(snapshot);
  showCamera(snapshot.camera);
  const changed = showVerdict(snapshot);
  showWrong(snapshot);
  showPause(snapshot, plan, failed);
  showOffers(snapshot, failed);
  showTodo(snapshot);
  showQuestion(snapshot, plan, failed);
  showBoard();
  showPlayers(snapshot, plan);
  showSay(snapshot, plan, failed, showBoard);
  showFacts(snapshot);
  showMoves(snapshot, plan, failed);
  showSummary(snapshot);
  showAfter(snapshot);
  showSwitches();
  byId("live-view").hidden = !snapshot.you.host;
  if (changed && !first) tellVerdict();
  const q = snapshot.question;
  if (q && q.id !== asked && seated(snapshot) && (!q.seat || mine(snapshot, q.seat))) {
    speak(sentence(words(q.text)));
    utter(sentence(words(q.text)));
    notice("question");
  }
  asked = q?.id ?? null;
  if (first) {
    turn = snapshot.turn;
    told = toldNow();
  }
  document.body.dataset.ready = snapshot.serial;
}

// The end is said once.
const toldNow = () => `${verdictInWords(snapshot)} ${kindOf(snapshot) === "over" ? "" : turnWords(snapshot)}`.trim();
function tellVerdict() {
  const kind = snapshot.verdict.verdict, text = toldNow();
  if (text === told) return;
  told = text;
  if (kind !== "busy") speak(text, kind === "illegal");
  if (!["busy", "same"].includes(kind)) utter(text);
  const now = snapshot.outcome ? null : snapshot.turn, mineNow = now !== turn && snapshot.you.seats.includes(now) && kind !== "illegal";
  turn = now;
  notice(mineNow ? "turn" : kind);
}

// Who wishes to hear or feel the table tries it at once.
const [voice, places] = [byId("voice", HTMLInputElement), byId("names", HTMLInputElement)];
voice.addEventListener("change", () => { if (voice.checked) utter(say("I say aloud what happens.")); });
if (voice.parentElement) voice.parentElement.hidden = !("speechSynthesis" in window);
byId("notation").addEventListener("change", () => location.reload());
places.addEventListener("change", () => document.body.classList.toggle("unnamed", !places.checked));
document.body.classList.toggle("unnamed", wish("names") === "0");
for (const box of [byId("sound", HTMLInputElement), byId("buzz", HTMLInputElement)]) {
  box.addEventListener("change", () => { if (box.checked) setTimeout(() => notice("question"), 50); });
  if (box.id === "buzz" && box.parentElement) box.parentElement.hidden = !navigator.vibrate;
}

byId("zoom").addEventListener("click", () => {
  const large = byId("frame").classList.toggle("large");
  byId("zoom").setAttribute("aria-pressed", String(large));
});
byId("turn-board").addEventListener("click", () => {
  if (!board) return;
  board.turn(board.turned + 1);
  keep("turned", board.turned);
});
byId("live-view").addEventListener("click", () => {
  const picture = h("img", { class: "live", alt: say("What the camera sees now") });
  const dialog = openDialog(say("What the camera sees now"), picture);
  const next = () => { if (dialog.open && picture.isConnected) picture.src = `/api/host/live.jpg?${Date.now()}`; };
  picture.addEventListener("load", () => setTimeout(next, 700));
  picture.addEventListener("error", () => setTimeout(next, 3000));
  next();
});
addEventListener("keydown", e => { if (e.key === "Escape") { stopAsking(); showBoard(); } });
// A sheet that hides what somebody wants to see is folded away.
byId("fold").addEventListener("click", () => {
  const folded = byId("sheet").classList.toggle("folded");
  byId("fold").setAttribute("aria-expanded", String(!folded));
});
byId("open-rules").addEventListener("click", () => { if (snapshot) readRules(snapshot.game); });

footer();
await learn();
follow(show, showLink);
keepPages();
