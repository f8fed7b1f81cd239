// What the table concluded: the verdict, the to-do list, the one question.

import { byId, fill, h, icon } from "./dom.js";
import { pieceIcon } from "./board.js";
import { gained, mine, nameOf, points, seatTag, seated } from "./people.js";
import { ruleButton } from "./rules.js";
import { tell } from "./talk.js";
import { say, words } from "./words.js";

const AT_ONCE = 6;      // to-dos shown without asking

export const heads = () => ({
  same: say("All is well"), moved: say("Done"), unfinished: say("Not finished yet"), illegal: say("Not allowed"),
  unclear: say("Not clear"), busy: say("Looking away"), over: say("The game is over"),
});

// How the camera is, in a few words.
export const cameraWords = state => ({
  ok: say("camera sees the board"), lost: say("camera is gone"), covered: say("camera is covered"),
  dark: say("too dark for the camera"), frozen: say("camera is stuck"), "no board": say("the board is not in view"),
})[state] ?? state;

export function showTrouble(snapshot) {
  const box = byId("trouble"), { trouble, camera } = snapshot, machine = snapshot.you?.host ? snapshot.machine ?? [] : [], blind = camera?.state && camera.state !== "ok";
  box.hidden = !trouble && !blind && !machine.length;
  fill(box, [trouble, camera?.state, camera?.message, machine], () => [
    trouble ? h("p", null, icon("illegal"), " ", words(trouble)) : null,
    blind ? h("p", null, icon("illegal"), " ", cameraWords(camera.state), ". ", say("The table goes on by itself as soon as it sees the board again.")) : null,
    blind && camera.message ? h("p", { class: "exact" }, h("code", null, camera.message)) : null,
    machine.map(text => h("p", null, words(text))),
  ]);
}

const acts = (snapshot, actions) => actions.length ? h("ul", { class: "acts" }, actions.map(text => h("li", null, doing(snapshot, done(snapshot, text))))) : null;

// The move that an action of the verdict became; one that breaks a rule became none.
const done = (snapshot, text) => snapshot.moves.slice(-snapshot.verdict.actions.length).find(move => move.text === text) ?? { text };

// What people did, in words where the game has them, and in the notation of the scripts.
export function doing(snapshot, move) {
  return move.words?.length ? [h("span", { class: "in-words" }, move.words.map(words).join("; ")), " ", h("code", { class: "small" }, move.text.slice(move.text.indexOf(":") + 1).trim())] : act(snapshot, move.text);
}

// "bull: tile red C4" with the seat's own name
export function act(snapshot, text) {
  const at = text.indexOf(":");
  return at < 0 ? h("code", null, text) : [seatTag(snapshot, text.slice(0, at)), " ", h("code", null, text.slice(at + 1).trim())];
}

function gains(snapshot) {
  const count = snapshot.verdict.actions.length, moves = snapshot.moves;
  if (!count || snapshot.verdict.verdict === "illegal" || moves.length < count) return null;
  const won = gained(moves[moves.length - count - 1]?.scores ?? snapshot.opening, moves[moves.length - 1].scores);
  return won.length ? h("p", { class: "gains" }, won.map(([seat, name, n]) => h("span", { class: "gain" }, seatTag(snapshot, seat), " ", points(name, n, true)))) : null;
}

export function showVerdict(snapshot) {
  const box = byId("verdict"), v = snapshot.verdict, over = snapshot.outcome;
  const kind = over && ["same", "moved"].includes(v.verdict) ? "over" : v.verdict;
  box.dataset.verdict = kind;
  return fill(box, [v, over, snapshot.you, snapshot.moves.at(-1)?.event], () => [
    h("span", { class: "lamp" }, icon(kind === "over" ? "winner" : kind)),
    h("div", { class: "told" },
      h("h2", { id: "verdict-head" }, heads()[kind] ?? kind),
      over ? h("p", null, kind === "over" ? null : [h("b", null, say("The game is over")), ". "], winners(snapshot), " ", words(over.reason)) : null,
      acts(snapshot, v.actions), gains(snapshot),
      onlyActions(v) || saysRule(v) ? null : h("p", { class: "why" }, words(v.text)),
      v.violations.length ? h("ul", { class: "broken" }, v.violations.map(({ rule, text }) =>
        h("li", null, ruleButton(snapshot.game, rule), " ", words(text)))) : null,
      v.back.length ? [h("h3", null, say("Put it back")), h("ol", { class: "mend" }, v.back.map(text => h("li", null, words(text))))] : null),
  ]);
}

// Its sentence says nothing that the list of actions does not.
const onlyActions = ({ actions, text }) => actions.length > 0 && (text?.t === "{actions}" || words(text) === actions.join(", "));

// Nor one that the broken rule says below.
const saysRule = ({ violations, text }) => violations.some(v => words(v.text) === words(text));

const winners = snapshot => {
  const names = snapshot.outcome.winners.map(id => nameOf(snapshot, id)).join(", ");
  return snapshot.outcome.winners.length > 1 ? say("{names} share the win.", { names }) : say("{names} wins.", { names });
};

// One sentence for a screen reader.
export function verdictInWords(snapshot) {
  const v = snapshot.verdict;
  const said = [heads()[v.verdict] ?? v.verdict, v.actions.map(text => text.replace(/^[^:]+/, id => nameOf(snapshot, id))).join(", ")];
  if (!onlyActions(v) && !saysRule(v)) said.push(words(v.text));
  for (const { rule, text } of v.violations) said.push(say("Rule {rule}: {text}", { rule, text: words(text) }));
  for (const text of v.back) said.push(words(text));
  for (const { text } of v.todo.slice(0, AT_ONCE)) said.push(words(text));
  if (snapshot.outcome) said.push(winners(snapshot));
  return said.filter(Boolean).join(". ");
}

export function showTodo(snapshot) {
  const box = byId("todo"), todo = snapshot.verdict.todo;
  box.hidden = !todo.length;
  const line = ({ text, seat }) => h("li", { class: seat && mine(snapshot, seat) ? "mine" : null }, h("span", null, seat ? [seatTag(snapshot, seat), " "] : null, words(text)));
  fill(box, [todo, snapshot.you], () => [
    h("h2", { id: "todo-head" }, say("Still to do")),
    h("ul", { class: "todo" }, todo.slice(0, AT_ONCE).map(line)),
    todo.length > AT_ONCE ? h("details", null, h("summary", null, say("{n} more", { n: todo.length - AT_ONCE })), h("ul", { class: "todo" }, todo.slice(AT_ONCE).map(line))) : null,
  ]);
}

export function showQuestion(snapshot, plan, failed) {
  const box = byId("question"), q = snapshot.question;
  box.hidden = !q;
  if (!q) return fill(box, null, () => []);
  const own = q.seat && snapshot.seats.some(({ id }) => id === q.seat) ? mine(snapshot, q.seat) : seated(snapshot);
  box.classList.toggle("mine", own);
  return fill(box, [q, snapshot.you, Boolean(plan)], () => [
    h("h2", { id: "question-head" }, q.seat ? [seatTag(snapshot, q.seat), " "] : null, words(q.text)),
    h("div", { class: q.answers.every(answer => answer.picture) ? "answers pictured" : "answers", role: "group", "aria-labelledby": "question-head" }, q.answers.map((answer, i) =>
      h("button", { type: "button", disabled: !own, "data-focus": `answer-${i}`, onclick: e => give(e.currentTarget, q.id, i, failed) },
        answer.picture ? pieceIcon(plan, answer.picture) : null, h("span", null, words(answer.text))))),
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
