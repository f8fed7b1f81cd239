// @ts-check
// Telling the table what the camera cannot see: buttons in words; a field for the notation of the scripts, where that is wished.

import { byId, fill, h, icon } from "./dom.js";
import { pieceIcon } from "./board.js";
import { bargain } from "./bargain.js";
import { nameOf, seatTag, seated, mine } from "./people.js";
import { takeBack } from "./moves.js";
import { ask, tell } from "./talk.js";
import { wish } from "./footer.js";
import { whereMayI } from "./learn.js";
import { say, sentence, words } from "./words.js";

const inWords = (told, text) => told.length ? told.map(words).join("; ") : text.slice(text.indexOf(":") + 1).trim();

let seat = null, typing = 0;

export function showSay(snapshot, plan, failed, redraw) {
  const box = byId("say");
  box.hidden = !seated(snapshot);
  if (box.hidden) return;
  const seats = speakers(snapshot);
  if (!seats.includes(seat)) seat = seats.find(id => snapshot.actors.includes(id)) ?? seats[0] ?? null;
  else if (snapshot.you.host && !snapshot.actors.includes(seat) && !box.contains(document.activeElement)) seat = seats.find(id => snapshot.actors.includes(id)) ?? seat;
  fill(box, [seats, seat, snapshot.decision, snapshot.question?.id ?? null, snapshot.you, Boolean(plan), snapshot.moves.length, snapshot.moves.at(-1)?.text, snapshot.view?.bargain, snapshot.undone], () => panel(snapshot, seats, plan, failed, redraw));
}

const speakers = snapshot => [...new Set([...snapshot.seats.map(({ id }) => id), ...snapshot.actors])].filter(id => mine(snapshot, id) || !snapshot.seats.some(s => s.id === id));

function panel(snapshot, seats, plan, failed, redraw) {
  const noted = wish("notation") === "1";
  const kept = byId("act", HTMLInputElement)?.value ?? "";
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
    h("p", { class: "hint" }, `${say("Was it otherwise?")} `, inWords(told, text)),
    h("div", { class: "quick" }, others.map(other => h("button", { type: "button", onclick: () => tell("/api/instead", { event, text: other.text }).catch(failed) }, inWords(other.words, other.text)))))));
  const offer = async () => {
    if (!seat) return;
    let found;
    try {
      found = await ask(`/api/actions?seat=${encodeURIComponent(seat)}&starts=${encodeURIComponent(field.value.trim())}`);
    } catch {
      return;
    }
    tellings(found.otherwise);
    const nothing = { said: [], pieces: [] };      // a bag or a box, which nobody sits at, chooses nothing
    const now = snapshot.seats.some(({ id }) => id === seat) ? await ask(`/api/choices?seat=${encodeURIComponent(seat)}`).catch(() => nothing) : nothing;
    doings.replaceChildren(...now.said.map(one => h("button", { type: "button", onclick: () => say_(one.text) }, sentence(inWords(one.words, one.text)).replace(/\.$/, ""))));
    learner.replaceChildren(whereMayI(plan, seat, now.pieces, redraw) ?? "");
    if (!noted) return;
    byId("offers")?.replaceChildren(...found.actions.map(value => h("option", { value })));
    quick.replaceChildren(...found.whole.map(word => h("button", { type: "button", onclick: () => say_(`${seat}: ${word}`) }, word)),
      ...found.verbs.map(word => h("button", { type: "button", class: "verb", onclick: () => { field.value = `${word} `; field.focus(); offer(); } }, `${word} …`)));
  };
  queueMicrotask(offer);
  const before = h("div", { class: "otherwise" }), doings = h("div", { class: "quick" }), learner = h("div");
  const decision = snapshot.decision;
  const choices = decision?.choices?.length && !snapshot.question && mine(snapshot, decision.seat) ? decision : null;
  return [
    h("h2", { id: "say-head" }, say("Tell the table")),
    choices ? [h("p", null, seatTag(snapshot, choices.seat), " ", words(choices.text)), h("div", { class: "answers" }, choices.choices.map(choice =>
      h("button", { type: "button", onclick: () => say_(choice.action.includes(":") ? choice.action : `${choices.seat}: ${choice.action}`) }, choice.picture ? pieceIcon(plan, choice.picture) : null, h("span", null, words(choice.text)))))] : null,
    seats.length > 1 ? h("label", { class: "for" }, h("span", null, say("For")), h("select", { "data-focus": "for", onchange: e => { seat = e.target.value; offer(); } }, seats.map(id => h("option", { value: id, selected: id === seat }, nameOf(snapshot, id))))) : null,
    doings,
    noted ? [h("form", { onsubmit: e => { e.preventDefault(); if (field.value.trim()) say_(field.value.includes(":") && seats.includes(field.value.split(":")[0].trim()) ? field.value.trim() : `${seat}: ${field.value.trim()}`); } },
      h("label", { class: "grow" }, h("span", null, say("What did you do?")), field),
      h("button", { class: "strong" }, say("Tell the table")), h("datalist", { id: "offers" })), quick] : null,
    learner,
    bargain(snapshot, seat, say_),
    before,
    h("p", { class: "hint", id: "act-hint" }, say("Only needed for what the camera cannot see.")),
    snapshot.moves.length ? h("button", { type: "button", class: "undo", "data-focus": "undo-last", onclick: () => takeBack(snapshot, snapshot.moves.length - 1, failed) }, icon("back"), " ", say("Take back the last move")) : null,
    snapshot.undone?.length ? h("button", { type: "button", class: "undo", "data-focus": "redo", onclick: () => tell("/api/redo", {}).catch(failed) }, say("Do again what was taken back")) : null,
  ];
}
