// @ts-check
// Setting the table up, as a conversation: the game and its seats, a copy of it, its photos, go.

import { byId, clear, fill, h } from "./dom.js";
import { Board, boardInWords } from "./board.js";
import { footer, keepPages } from "./footer.js";
import { showLive, tapped } from "./live.js";
import { speak } from "./notice.js";
import { ask, tell } from "./talk.js";
import { learn, say, words } from "./words.js";

const EVERY = 1000;      // ms between looks at how far it is
const OWN = "board ";    // before the name of a board without rules, among the games

let at = null, seen = false;      // the step somebody went back to; whether the camera has been looked through
let warned = /** @type {string[]} */ ([]);      // what was said of a photo before it was taken all the same
let said = null, plan = null, planFor = null, chosen = null;
let doings = 0;          // begun and ended: what was asked before one of them is out of date when its answer comes

async function act(path, data) {
  byId("fault").textContent = "";
  doings += 1;
  try {
    said = await tell(path, data);
    doings += 1;
    at = null;
    await show();
  } catch (e) {
    doings += 1;
    byId("fault").textContent = e.message;
    byId("fault").scrollIntoView({ block: "nearest" });
  }
}

async function show() {
  for (const id of ["game", "copy", "camera", "go"]) byId(`${id}-part`).hidden = true;
  byId("stranger").hidden = Boolean(said);
  byId("steps").hidden = true;
  if (!said) return;
  const plays = said.game ?? (said.board && OWN + said.board);
  chosen ??= plays;
  part("game", [said.games, said.boards, chosen, plays, said.seats], gamePart);
  if (!said.session) lookThrough();
  if (!plays) return showSteps(plays);
  if (planFor !== plays) [plan, planFor] = [await ask("/api/plan"), plays];
  part("copy", [said.copies, said.begun, said.copy, said.session?.name, plays], copyPart);
  if (said.session) {
    byId("camera-part").hidden = false;
    showLive(said, camera => act("/api/setup/camera", { camera }), () => act("/api/setup/focus", {}));
    fill(byId("taking"), [said.session, said.progress, said.report, said.fault], taking);
    // beside the button too: on a phone the live picture is a screen further up
    const advice = said.framing?.advice ?? [];
    if (byId("before-taking")) fill(byId("before-taking"), [advice, said.session.next], () => advice.map(line => h("p", null, words(line))));
    if (said.progress) byId("since")?.replaceChildren(say("{minutes} so far", { minutes: minutes(said.since) }));
  }
  if (said.copy) part("go", [said.copy, said.done, Boolean(said.progress)], goPart);
  showSteps(plays);
}

// One decision a screen: only the step at hand is shown, the others are a tap away.
function showSteps(plays) {
  const steps = [["sight", say("Camera")], ["game", say("Game")], ["copy", say("Set")], ["camera", say("Photos")], ["go", say("Start")]];
  const open = ["sight", ...(seen || plays ? ["game"] : []), ...(plays ? ["copy"] : []), ...(said.session ? ["camera"] : []), ...(said.copy ? ["go"] : [])];
  const now = at && open.includes(at) ? at : said.session && !said.copy ? "camera" : open.at(-1);
  // while the rest is learnt, and as one more photo of what was misread may still be taken
  const more = now === "go" && said.session && (said.progress || said.report);
  for (const [id] of steps) if (id !== "sight") byId(`${id}-part`).hidden = id !== now && !(more && id === "camera");
  if (now === "sight") byId("camera-part").hidden = false;
  byId("sight").hidden = now !== "sight";
  byId("taking").hidden = now === "sight";
  // while it learns, and afterwards, nobody has to look through the camera
  byId("live").hidden = now !== "sight" && Boolean(said.progress || said.report && said.session?.next === null);
  byId("steps").hidden = false;
  fill(byId("steps"), [open, now], () => steps.map(([id, name], i) => h("li", { "aria-current": id === now ? "step" : null },
    h("button", { type: "button", "data-focus": `step-${id}`, "aria-label": say("{n} of {all}: {name}", { n: i + 1, all: steps.length, name }), disabled: !open.includes(id), onclick: () => { at = id; showSteps(plays); } }, id === now ? say("{n} of {all}: {name}", { n: i + 1, all: steps.length, name }) : String(i + 1)))));
}

// Before anything else: what the camera sees, and what it is worth.
function lookThrough() {
  clear(byId("taking"));
  showLive(said, camera => act("/api/setup/camera", { camera }), () => act("/api/setup/focus", {}));
}

function sightPart() {
  return [h("p", null, say("You need: the game, the camera above the table, and about ten minutes for four photos.")),
    h("p", { class: "hint" }, say("Is the whole board in the picture, with a hand's breadth around it? If not, move the camera now; later it must stay.")),
    h("div", { class: "row" }, h("button", { type: "button", class: "strong", "data-focus": "seen", onclick: () => { seen = true; at = "game"; showSteps(said.game ?? said.board); } }, say("Continue")))];
}

function part(name, key, make) {
  byId(`${name}-part`).hidden = false;
  fill(byId(`${name}-part`).lastElementChild, key, make);
}

function gamePart() {
  const game = said.games.find(({ name }) => name === chosen);
  const pick = (value, name, picture) => h("button", { type: "button", "data-focus": `game-${value}`, "aria-pressed": String(value === chosen), onclick: () => { chosen = value; show(); } }, picture, h("span", null, name));
  const choose = h("div", { class: "games", role: "group", "aria-label": say("Game") },
    said.games.map(g => pick(g.name, words(g.title), h("img", { src: `/api/setup/games/${encodeURIComponent(g.name)}.svg`, alt: "" }))),
    said.boards.map(b => pick(OWN + b.folder, b.name, null)));
  const board = said.boards.find(b => OWN + b.folder === chosen);
  if (board) return [choose, h("p", { class: "hint" }, say("A board without rules: its pictures are read, nobody keeps its score.")),
    h("div", { class: "row" }, h("button", { type: "button", class: "strong", "data-focus": "board", onclick: () => act("/api/setup/board", { board: board.folder }) }, say("This board")))];
  if (!game) return [choose];
  const [fewest, most] = game.players;
  const places = Array.from({ length: most }, (_, i) => {
    const own = said.game === game.name ? said.seats[i] ?? "" : i < fewest ? game.seats[i].id : "";
    return h("li", null, h("label", null, say("Seat {n}", { n: i + 1 }), " ", h("select", { class: "place", "data-focus": `place-${i}` },
      h("option", { value: "" }, say("nobody")), game.seats.map(s => h("option", { value: s.id, selected: s.id === own }, words(s.name))))));
  });
  const readings = game.options.map(option => h("fieldset", null, h("legend", null, words(option.text)), option.values.map((value, i) =>
    h("label", { class: "reading" }, h("input", { type: "radio", name: option.name, value, checked: value === ((said.game === game.name && said.options[option.name]) || option.values[0]) }), " ", words(option.texts[i])))));
  return [h("form", { onsubmit: e => {
    e.preventDefault();
    const form = e.currentTarget;
    act("/api/setup/game", { game: game.name, seats: [...form.querySelectorAll(".place")].map(s => s.value).filter(Boolean),
      options: Object.fromEntries(game.options.map(o => [o.name, form.elements[o.name].value])) });
  } }, choose, h("p", { class: "hint" }, say("In the order of turns; the first starts.")),
  h("ol", { class: "places" }, places), readings, h("div", { class: "row" }, h("button", { class: "strong" }, say("Continue"))))];
}

function copyPart() {
  const name = h("input", { id: "copy-name", maxlength: "60", value: said.game ? words(said.games.find(g => g.name === said.game).title) : said.boards.find(b => b.folder === said.board)?.name ?? said.board });
  const begin = async markers => {
    await act("/api/setup/copy", { name: name.value, markers });
    if (said?.session) byId("camera-part").scrollIntoView();
  };
  return [
    said.copy ? h("p", null, say("Chosen: {name}.", { name: said.copies.find(c => c.folder === said.copy)?.name ?? said.copy })) : null,
    said.copies.map(c => h("div", { class: "row" }, h("button", { type: "button", "data-focus": `use-${c.folder}`, onclick: () => act("/api/setup/use", { copy: c.folder }) }, say("Use {name}", { name: c.name })))),
    said.begun.map(c => h("div", { class: "row" }, h("button", { type: "button", "data-focus": `go-on-${c.folder}`, onclick: () => act("/api/setup/go-on", { copy: c.folder }) }, say("Go on with {name} (photos so far: {n})", { name: c.name, n: c.photos })))),
    h("h3", null, say("New set (about ten minutes)")),
    h("label", { for: "copy-name" }, say("Its name")), name,
    h("div", { class: "row" },
      h("button", { type: "button", "data-focus": "cards", onclick: () => begin(1) }, say("With the four marker cards")),
      h("button", { type: "button", "data-focus": "taps", onclick: () => begin(0) }, say("Without cards: I tap the corners"))),
  ];
}

function taking() {
  const { session, progress, report, fault } = said;
  if (progress) {
    const [what, share] = progress;
    return [h("label", { for: "progress" }, say("Learning: {what}", { what: say(what) })), h("progress", { id: "progress", max: "1", value: String(share) }),
      h("p", { id: "since" }), said.copy && said.game ? null : h("p", null, say("This takes some minutes; the phone may sleep meanwhile.")), said.game && !said.copy ? h("p", null, layOut()) : null];
  }
  const done = session.steps.map((step, i) => h("li", null, step.remarks?.length ? "⚠ " : step.taken ? "☑ " : "☐ ", title(step, i),
    step.taken ? h("button", { type: "button", class: "again", "data-focus": `again-${i}`, "aria-label": say("Take {title} again", { title: title(step, i) }), onclick: () => take(i) }, say("Again")) : null,
    step.taken ? step.remarks.map(line => h("p", { class: "fault" }, words(line))) : null));
  // What is taken needs no more reading: the photo to take next stands first.
  const taken = session.steps.filter(step => step.taken), odd = taken.filter(step => step.remarks?.length).length;
  const list = h("details", { class: "taken" }, h("summary", null, say("{n} of {all} photos taken", { n: taken.length, all: session.steps.length }), odd ? ` (⚠ ${odd})` : ""), h("ol", { class: "photos" }, done),
    session.steps[0].taken && said.game ? h("p", null, h("a", { href: "/trace" }, say("The board is printed otherwise? Correct its plan on the photo"))) : null);
  const out = /** @type {(HTMLElement | null)[]} */ ([]);
  if (fault) out.push(h("p", { class: "fault" }, fault));
  if (report) {
    out.push(...[h("p", { id: "report" }, say("Learnt from {photos} photos in {minutes}: {found}", { photos: report.photos, minutes: minutes(report.seconds), found: words(report.summary) })), h("ul", null, report.advice.map(line => h("li", null, words(line)))),
      report.pictures ? h("p", null, h("a", { href: "/report" }, say("How well this copy is read: the calibration's report"))) : null].filter(Boolean));
    speak(say("Learnt."));
  }
  if (session.next !== null) out.push(task(session, session.next));
  else out.push(h("div", { class: "row" }, h("button", { type: "button", class: "strong", "data-focus": "learn", onclick: () => act("/api/setup/learn", {}) }, report ? say("Learn again") : session.steps.some(step => step.remarks?.length) ? say("Learn all the same") : say("Learn the pieces")),
    report?.more.length ? h("button", { type: "button", "data-focus": "more", onclick: () => act("/api/setup/more", {}) }, say("One more photo, of what was misread")) : null));
  if (taken.length) out.push(list);
  return out;
}

// Of what lay there for the last photo, what comes from the box anyhow may stay.
const layOut = () => said.from_box && said.session ? say("Lay the board out for the beginning of the game. Tiles may stay where they lie: take the rest off, fill the empty places.") : say("Lay the board out for the beginning of the game.");

const minutes = seconds => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;

const title = (step, i) => Object.keys(step.layout).length ? say("Pieces as in picture {n}", { n: i - 1 }) : i === 0 ? say("The empty board") : say("The empty board in another light");

function task(session, i) {
  const step = session.steps[i], out = /** @type {HTMLElement[]} */ ([h("h3", null, title(step, i))]);
  if (Object.keys(step.layout).length) {
    const board = new Board(plan, { label: say("What to lay where; below it stands the same in words."), photo: said.game ? undefined : `/api/setup/board.jpg?${encodeURIComponent(session.name)}` });
    board.show(step.layout);
    out.push(h("p", null, say("Lay these out; they need not be straight. Then take your hands away.")), h("div", { class: "frame" }, board.svg),
      h("details", null, h("summary", null, say("The same in words")), h("dl", { class: "marked" }, boardInWords(plan, step.layout))));
  } else {
    out.push(h("p", null, i === 0 ? say("Take everything off the board.") : say("Leave the board empty; switch the lamp on or off.")));
    // the cards would tell
    if (i === 0 && !session.markers) out.push(h("p", { id: "mirrored" }, say("Does print run backwards in the picture? Then it is mirrored, which only you can see: switch that off in the camera's settings.")));
  }
  out.push(h("div", { id: "before-taking", class: "hint" }));
  out.push(h("div", { class: "row" }, h("button", { type: "button", class: "strong", "data-focus": "take", onclick: () => take(i) }, say("Take the photo"))));
  return h("div", { id: "task" }, out);
}

async function take(i) {
  // What does not look as it should is not taken as good without a word.
  const advice = said.framing?.advice ?? [], told = advice.map(text => `${i} ${text.t ?? text}`);      // how many pieces it counts may change
  if (told.some(one => !warned.includes(one))) {
    warned.push(...told);
    const button = document.querySelector('[data-focus="take"]');
    if (button) button.textContent = say("Take it all the same?");
    return speak(advice.map(words).join(" "));
  }
  warned = [];
  await act("/api/setup/take", { photo: i, corners: !said.session.markers && i === 0 ? tapped() : null });
  if (!byId("fault").textContent) speak(say("Taken."));
}

function goPart() {
  if (!said.game) return [h("p", { id: "own-learnt" }, say("Its pictures are read with: {line}", { line: `nilometer read ${said.copy} photo.jpg` }))];
  return said.done ? [h("p", { role: "status" }, say("The table starts; this page goes there by itself."))]
    : [h("p", null, layOut()), said.progress ? h("p", { id: "beside" }, say("You need not wait: the rest is learnt while you play.")) : null, h("div", { class: "row" }, h("button", { type: "button", class: "strong", "data-focus": "go", onclick: () => act("/api/setup/go", {}) }, say("Start the game")))];
}

async function look() {
  const since = doings;
  try {
    const answer = await ask("/api/setup");
    if (since !== doings) return;
    said = answer.you.host ? answer : null;
    await show();
  } catch (e) {
    // The table has started where the set-up was: its board is the next page.
    if (e.status === 404) location.href = "/";
    else if (said?.done !== true) byId("fault").textContent = e.message;
  }
}

async function follow() {
  await look();
  setTimeout(follow, EVERY);
}

byId("pin").addEventListener("submit", async e => {
  e.preventDefault();
  byId("pin-fault").textContent = "";
  try {
    await tell("/api/host", { pin: byId("pin-field", HTMLInputElement).value });
    await look();
  } catch (fault) {
    byId("pin-fault").textContent = fault.message;
  }
});

footer();
await learn();
fill(byId("sight"), ["sight"], sightPart);
await follow();
document.body.dataset.ready = "1";
keepPages();
