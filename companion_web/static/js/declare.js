// Saying what the camera cannot see: buttons for what is decided now, a field for the rest in the action notation.

import { byId, fill, h, icon } from "./dom.js";
import { pieceIcon } from "./board.js";
import { bargain } from "./bargain.js";
import { nameOf, seatTag, seated, mine } from "./people.js";
import { takeBack } from "./moves.js";
import { ask, tell } from "./talk.js";
import { say, words } from "./words.js";

const sentence = (told, text) => told.length ? told.map(words).join("; ") : text.slice(text.indexOf(":") + 1).trim();

let seat = null, typing = 0;

export function showSay(snapshot, plan, failed) {
  const box = byId("say");
  box.hidden = !seated(snapshot);
  if (box.hidden) return;
  const seats = speakers(snapshot);
  if (!seats.includes(seat)) seat = seats.find(id => snapshot.actors.includes(id)) ?? seats[0] ?? null;
  else if (snapshot.you.host && !snapshot.actors.includes(seat) && !box.contains(document.activeElement)) seat = seats.find(id => snapshot.actors.includes(id)) ?? seat;
  fill(box, [seats, seat, snapshot.decision, snapshot.question?.id ?? null, snapshot.you, Boolean(plan), snapshot.moves.length, snapshot.moves.at(-1)?.text, snapshot.view?.bargain, snapshot.undone], () => panel(snapshot, seats, plan, failed));
}

const speakers = snapshot => [...new Set([...snapshot.seats.map(({ id }) => id), ...snapshot.actors])].filter(id => mine(snapshot, id) || !snapshot.seats.some(s => s.id === id));

function panel(snapshot, seats, plan, failed) {
  const kept = byId("act")?.value ?? "";
  const field = h("input", { id: "act", name: "act", autocomplete: "off", autocapitalize: "none", spellcheck: "false", list: "offers", maxlength: "300", value: kept, "data-focus": "act", "aria-describedby": "act-hint", oninput: () => { clearTimeout(typing); typing = setTimeout(offer, 200); } });
  const quick = h("div", { class: "quick" });
  const say_ = async text => {
    try {
      await tell("/api/declare", { text });
      field.value = "";
    } catch (e) {
      failed(e);
      field.focus();
    }
  };
  // What the camera cannot tell apart from what the table took it for: one tap corrects it.
  const tellings = list => before.replaceChildren(...list.map(({ event, text, words: told, others }) => h("div", { role: "group", "aria-label": say("Was it otherwise?") },
    h("p", { class: "hint" }, `${say("Was it otherwise?")} `, sentence(told, text)),
    h("div", { class: "quick" }, others.map(other => h("button", { type: "button", onclick: () => tell("/api/instead", { event, text: other.text }).catch(failed) }, sentence(other.words, other.text)))))));
  const offer = async () => {
    if (!seat) return;
    let found;
    try {
      found = await ask(`/api/actions?seat=${encodeURIComponent(seat)}&starts=${encodeURIComponent(field.value.trim())}`);
    } catch {
      return;
    }
    tellings(found.otherwise);
    byId("offers")?.replaceChildren(...found.actions.map(value => h("option", { value })));
    quick.replaceChildren(...found.whole.map(word => h("button", { type: "button", onclick: () => say_(`${seat}: ${word}`) }, word)),
      ...found.verbs.map(word => h("button", { type: "button", class: "verb", onclick: () => { field.value = `${word} `; field.focus(); offer(); } }, `${word} …`)));
  };
  queueMicrotask(offer);
  const before = h("div", { class: "otherwise" });
  const decision = snapshot.decision;
  const choices = decision?.choices?.length && !snapshot.question && mine(snapshot, decision.seat) ? decision : null;
  return [
    h("h2", { id: "say-head" }, say("Say it")),
    choices ? [h("p", null, seatTag(snapshot, choices.seat), " ", words(choices.text)), h("div", { class: "answers" }, choices.choices.map(choice =>
      h("button", { type: "button", onclick: () => say_(choice.action.includes(":") ? choice.action : `${choices.seat}: ${choice.action}`) }, choice.picture ? pieceIcon(plan, choice.picture) : null, h("span", null, words(choice.text)))))] : null,
    h("form", { onsubmit: e => { e.preventDefault(); if (field.value.trim()) say_(field.value.includes(":") && seats.includes(field.value.split(":")[0].trim()) ? field.value.trim() : `${seat}: ${field.value.trim()}`); } },
      seats.length > 1 ? h("label", { class: "for" }, h("span", null, say("For")), h("select", { "data-focus": "for", onchange: e => { seat = e.target.value; offer(); } }, seats.map(id => h("option", { value: id, selected: id === seat }, nameOf(snapshot, id))))) : null,
      h("label", { class: "grow" }, h("span", null, say("What was done")), field),
      h("button", { class: "strong" }, say("Say it")), h("datalist", { id: "offers" })),
    quick,
    bargain(snapshot, seat, say_),
    before,
    h("p", { class: "hint", id: "act-hint" }, say("Only what the camera cannot see has to be said.")),
    snapshot.moves.length ? h("button", { type: "button", class: "undo", "data-focus": "undo-last", onclick: () => takeBack(snapshot, snapshot.moves.length - 1, failed) }, icon("back"), " ", say("Take back the last move")) : null,
    snapshot.undone?.length ? h("button", { type: "button", class: "undo", "data-focus": "redo", onclick: () => tell("/api/redo", {}).catch(failed) }, say("Do again what was taken back")) : null,
  ];
}
