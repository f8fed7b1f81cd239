// @ts-check
// What the table concluded: the verdict, the to-do list, the one question.

import { byId, fill, h, icon } from "./dom.js";
import { pieceIcon } from "./board.js";
import { wish } from "./footer.js";
import { gained, mine, nameOf, nobodyActs, points, seatTag, seated } from "./people.js";
import { ruleButton } from "./rules.js";
import { tell } from "./talk.js";
import { placeName, say, sentence, words } from "./words.js";

/** @typedef {import("../../types/snapshot").Snapshot} Snapshot */
/** @typedef {import("../../types/snapshot").MoveView} Move */
/** @typedef {import("../../types/page").Plan} Plan */

const AT_ONCE = 6;      // to-dos shown without asking

/** @type {() => { [kind: string]: string }} */
export const heads = () => ({
  same: say("Ready"), moved: say("Done"), unfinished: say("Not finished yet"), illegal: say("Not allowed"),
  unclear: say("Not clear"), busy: say("Hands on the board"), over: say("The game is over"), blind: say("I cannot see the board"),
});

// How the camera is, in a few words.
export const cameraWords = state => ({
  ok: say("camera sees the board"), lost: say("camera is gone"), covered: say("camera is covered"),
  dark: say("too dark for the camera"), frozen: say("camera is stuck"), "no board": say("the board is not in view"),
})[state] ?? state;

export function showTrouble(snapshot) {
  const box = byId("trouble"), { trouble, camera } = snapshot, unseen = blind(snapshot), machine = snapshot.you?.host ? snapshot.machine ?? [] : [];
  box.hidden = !trouble && !unseen && !machine.length;
  fill(box, [trouble, camera?.state, camera?.message, machine], () => [
    trouble ? h("p", null, icon("illegal"), " ", words(trouble)) : null,
    unseen ? h("p", null, icon("illegal"), " ", sentence(cameraWords(camera.state)), " ", say("The table goes on by itself as soon as it sees the board again.")) : null,
    unseen && camera.message ? h("p", { class: "exact" }, h("code", null, camera.message)) : null,
    machine.map(text => h("p", null, words(text))),
  ]);
}

// What people did, in words; in the notation of the scripts too for whoever wishes to see it.
/**
 * @param {Snapshot} snapshot
 * @param {Move} move
 */
export function doing(snapshot, move) {
  const noted = wish("notation") === "1" ? h("code", { class: "small" }, move.text.slice(move.text.indexOf(":") + 1).trim()) : null;
  return [h("span", { class: "in-words" }, inWords(move)), noted ? " " : null, noted];
}

// "Bull lays a settlement on M10"
/** @type {(move: Move) => string} */
const inWords = move => move.words?.length ? move.words.map(words).join("; ") : move.text.slice(move.text.indexOf(":") + 1).trim();

// What the verdict's doings brought: [[seat, name, points], ...]
/**
 * @param {Snapshot} snapshot
 * @returns {import("../../types/page").Gain[]}
 */
function wins(snapshot) {
  const count = snapshot.verdict.actions.length, moves = snapshot.moves;
  if (!count || snapshot.verdict.verdict === "illegal" || moves.length < count) return [];
  if (moves.slice(-count).every(({ seat }) => !snapshot.seats.some(({ id }) => id === seat))) return [];      // laid out, not won
  return gained(moves[moves.length - count - 1]?.scores ?? snapshot.opening, moves[moves.length - 1].scores);
}

/** @param {Snapshot} snapshot */
function gains(snapshot) {
  const won = wins(snapshot);
  return won.length ? h("p", { class: "gains" }, won.map(([seat, name, n]) => h("span", { class: "gain" }, seatTag(snapshot, seat), " ", points(name, n, true)))) : null;
}

/** @type {(snapshot: Snapshot) => boolean} */
const blind = ({ camera }) => Boolean(camera?.state && camera.state !== "ok");

// What the verdict is called: while the camera sees nothing, nothing is well.
/** @type {(snapshot: Snapshot) => string} */
export const kindOf = snapshot => ["same", "moved", "busy"].includes(snapshot.verdict.verdict) && blind(snapshot) ? "blind"
  : snapshot.outcome && ["same", "moved", "unfinished"].includes(snapshot.verdict.verdict) ? "over" : snapshot.verdict.verdict;

// The verdict's own sentence, beyond its heading.
/**
 * @param {Snapshot} snapshot
 * @returns {string}
 */
export function lineOf(snapshot) {
  const v = snapshot.verdict, kind = kindOf(snapshot);
  if (kind === "over") return [winners(snapshot), finals(snapshot), sentence(words(snapshot.outcome?.reason))].filter(Boolean).join(" ");
  if (kind === "blind") return sentence(cameraWords(snapshot.camera.state));
  if (kind === "same") return nobodyActs(snapshot) ? sentence(words(snapshot.view?.left)) : "";      // what the table waits for
  const moves = v.actions.length && v.verdict !== "illegal" ? snapshot.moves.slice(-v.actions.length).filter(m => v.actions.includes(m.text)) : [];
  return moves.length > 3 ? say("{n} moves, the last: {move}", { n: moves.length, move: sentence(inWords(moves[moves.length - 1])) })
    : moves.length ? moves.map(m => sentence(inWords(m))).join(" ") : sentence(words(v.violations[0]?.text ?? v.text));
}

// Always the same room, whatever it says: what lies below does not jump.
/** @param {Snapshot} snapshot */
export function showVerdict(snapshot) {
  const box = byId("verdict"), v = snapshot.verdict, over = snapshot.outcome;
  const kind = kindOf(snapshot);
  box.dataset.verdict = kind;
  return fill(box, [v, over, kind, snapshot.moves.at(-1)?.event, snapshot.settings?.names, snapshot.view?.left], () => [
    h("span", { class: "lamp" }, icon(kind === "over" ? "winner" : kind === "blind" ? "camera" : kind)),
    h("div", { class: "told" }, h("h2", { id: "verdict-head" }, heads()[kind] ?? kind), h("p", { class: "why" }, lineOf(snapshot)), kind === "blind" ? null : gains(snapshot)),
  ]);
}

// Against the rules: which ones, and how to put it right.
/** @param {Snapshot} snapshot */
export function showWrong(snapshot) {
  const box = byId("wrong"), v = snapshot.verdict;
  if (v.verdict === "busy") return;      // hands are putting it right, and read on
  box.hidden = v.verdict !== "illegal";
  fill(box, [v.violations, v.back, box.hidden], () => box.hidden ? [] : [
    h("h2", { id: "wrong-head" }, say("To put it right")),
    v.back.length ? h("ol", { class: "mend" }, v.back.slice(0, AT_ONCE).map(text => h("li", null, sentence(words(text))))) : null,
    v.back.length > AT_ONCE ? h("details", null, h("summary", null, say("{n} more", { n: v.back.length - AT_ONCE })), h("ol", { class: "mend" }, v.back.slice(AT_ONCE).map(text => h("li", null, sentence(words(text)))))) : null,
    h("ul", { class: "broken" }, v.violations.map(({ rule, text }) => h("li", null, ruleButton(snapshot.game, rule), " ", sentence(words(text))))),
  ]);
}

/** @type {(snapshot: Snapshot) => string} */
export const winners = snapshot => {
  const ids = snapshot.outcome?.winners ?? [], names = ids.map(id => nameOf(snapshot, id)).join(", ");
  return ids.length > 1 ? say("{names} share the win.", { names }) : say("{names} wins.", { names });
};

// "Bull 5, Lion 2.": what decides, the most first
/** @type {(snapshot: Snapshot) => string} */
const finals = snapshot => sentence(snapshot.seats.filter(({ id }) => id in (snapshot.standing ?? {}))
  .sort((a, b) => snapshot.standing[b.id] - snapshot.standing[a.id]).map(({ id }) => `${nameOf(snapshot, id)} ${snapshot.standing[id]}`).join(", "));

// What a screen reader hears and a loudspeaker says: what the eye reads, no more.
/** @param {Snapshot} snapshot */
export function verdictInWords(snapshot) {
  const v = snapshot.verdict, said = [sentence(heads()[kindOf(snapshot)] ?? v.verdict), lineOf(snapshot)];
  if (v.actions.length && v.verdict !== "illegal") said.push(...wins(snapshot).map(([seat, name, n]) => sentence(`${nameOf(snapshot, seat)} ${n > 0 ? "+" : ""}${n}${name === "total" ? "" : ` ${say(name)}`}`)));
  for (const text of v.back.slice(0, AT_ONCE)) said.push(sentence(words(text)));
  for (const { text } of v.todo.slice(0, AT_ONCE)) if (sentence(words(text)) !== said[1]) said.push(sentence(words(text)));
  return said.filter(Boolean).join(" ");
}

/** @param {Snapshot} snapshot */
export function showTodo(snapshot) {
  const box = byId("todo"), todo = snapshot.verdict.todo;
  if (snapshot.verdict.verdict === "busy") return;      // hands are doing it
  box.hidden = !todo.length;
  const line = ({ text, seat }) => h("li", { class: seat && mine(snapshot, seat) ? "mine" : null }, h("span", null, seat ? [seatTag(snapshot, seat), " "] : null, sentence(words(text))));
  fill(box, [todo, snapshot.you], () => [
    h("h2", { id: "todo-head" }, say("To do on the board")),
    h("ul", { class: "todo" }, todo.slice(0, AT_ONCE).map(line)),
    todo.length > AT_ONCE ? h("details", null, h("summary", null, say("{n} more", { n: todo.length - AT_ONCE })), h("ul", { class: "todo" }, todo.slice(AT_ONCE).map(line))) : null,
  ]);
}

/**
 * @param {Snapshot} snapshot
 * @param {Plan | null} plan
 * @param {import("../../types/page").Failed} failed
 */
export function showQuestion(snapshot, plan, failed) {
  const box = byId("question"), q = snapshot.question;
  box.hidden = !q;
  if (!q) return fill(box, null, () => []);
  const own = q.seat && snapshot.seats.some(({ id }) => id === q.seat) ? mine(snapshot, q.seat) : seated(snapshot);
  box.classList.toggle("mine", own);
  return fill(box, [q, snapshot.you, Boolean(plan)], () => [
    h("h2", { id: "question-head" }, q.seat ? [seatTag(snapshot, q.seat), " "] : null, sentence(words(q.text))),
    own && q.sites.length === 1 && snapshot.verdict.verdict === "unclear" && snapshot.camera?.state === "ok" ? h("img", { class: "spot", src: `/api/place/${encodeURIComponent(q.sites[0])}/picture.jpg?${q.id}`, alt: say("{site}, as the camera sees it", { site: placeName(q.sites[0]) }), width: "120", height: "120", onerror: e => e.target.remove() }) : null,
    h("div", { class: q.answers.every(answer => answer.picture) ? "answers pictured" : "answers", role: "group", "aria-labelledby": "question-head" }, q.answers.map((answer, i) =>
      h("button", { type: "button", disabled: !own, "data-focus": `answer-${i}`, onclick: e => give(e.currentTarget, q.id, i, failed) },
        answer.picture ? pieceIcon(plan, answer.picture) : null, h("span", null, sentence(words(answer.text)).replace(/\.$/, ""))))),
    own ? null : h("p", { class: "hint" }, q.seat ? say("{name} answers on their own phone, or the host.", { name: nameOf(snapshot, q.seat) }) : say("Whoever has a seat can answer.")),
  ]);
}

async function give(button, question, choice, failed) {
  const all = button.parentElement.querySelectorAll("button");
  all.forEach(b => { b.disabled = true; });
  try {
    await tell("/api/answer", { question, choice });
  } catch (e) {
    all.forEach(b => { b.disabled = false; });
    failed(e);
  }
}
