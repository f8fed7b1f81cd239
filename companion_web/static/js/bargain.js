// @ts-check
// A trade: composed on one phone, accepted on another.

import { byId, fill, h } from "./dom.js";
import { notice, speak } from "./notice.js";
import { nameOf, seatTag } from "./people.js";
import { tell } from "./talk.js";
import { say, words } from "./words.js";

let heard = 0, draft = {}, open = false;      // what is being composed outlives the moves of others

// The form, where the game trades now; `say_` sends an act.
export function bargain(snapshot, seat, say_) {
  const trade = snapshot.view?.bargain, others = trade?.seats.filter(id => id !== seat) ?? [];
  if (!trade || !trade.seats.includes(seat) || !others.length) return null;
  const numbers = (side, head) => h("fieldset", null, h("legend", null, head), h("div", { class: "goods" }, trade.goods.map(({ id, name, colour }) =>
    h("label", null, h("span", null, h("i", { class: "swatch", colour, "aria-hidden": "true" }), words(name)),
      h("input", { type: "number", name: `${side}-${id}`, min: "0", max: "99", value: draft[`${side}-${id}`] ?? "0", inputmode: "numeric", "data-focus": `${side}-${id}`, oninput: e => { draft[e.target.name] = e.target.value; } })))));
  const bill = (form, side) => trade.goods.map(({ id }) => [id, Number(form.elements[`${side}-${id}`].value)]).filter(([, n]) => n > 0).map(([id, n]) => `${id} ${n}`).join(" ");
  return h("details", { class: "trade", open, ontoggle: e => { open = e.currentTarget.open; } }, h("summary", null, say("Offer a trade")), h("form", { onsubmit: e => {
    e.preventDefault();
    const form = e.currentTarget, gives = bill(form, "gives"), takes = bill(form, "takes");
    const said = { giver: seat, taker: form.elements.with.value, gives, takes };
    say_(`${seat}: ${trade.text.replace(/\{(\w+)\}/g, (_, name) => said[name])}`);
    draft = {};
    form.querySelectorAll("input").forEach(field => { field.value = "0"; });
  } },
    h("label", null, h("span", null, say("With")), h("select", { name: "with" }, others.map(id => h("option", { value: id }, nameOf(snapshot, id))))),
    numbers("gives", say("You give")), numbers("takes", say("You get")),
    h("button", { class: "strong" }, say("Offer it"))));
}

export function showOffers(snapshot, failed) {
  const box = byId("bargain"), offers = snapshot.offers ?? [];
  box.hidden = !offers.length;
  const held = id => snapshot.you.host || snapshot.you.seats.includes(id);
  const answer = (offer, yes, text) => h("button", { type: "button", class: yes ? "strong" : null, "data-focus": `offer-${offer.id}-${yes}`, onclick: () => tell("/api/offer", { id: offer.id, yes }).catch(failed) }, text);
  fill(box, [offers, snapshot.you], () => [h("h2", { id: "bargain-head" }, say("Offered")), h("ul", null, offers.map(offer => h("li", null,
    h("p", null, seatTag(snapshot, offer.from), " ", offer.words.length ? offer.words.map(words).join("; ") : offer.text),
    h("div", { class: "row" }, offer.to.some(held) || snapshot.you.host ? [answer(offer, 1, say("Accept")), answer(offer, 0, say("Decline"))] : held(offer.from) ? answer(offer, 0, say("Take the offer back"))
      : h("span", { class: "hint" }, say("{name} has not answered yet.", { name: offer.to.map(id => nameOf(snapshot, id)).join(", ") }))))))]);
  const news = offers.filter(offer => offer.id > heard && offer.to.some(id => snapshot.you.seats.includes(id)));
  heard = Math.max(heard, ...offers.map(({ id }) => id));
  if (news.length) {
    speak(news.map(offer => offer.words.map(words).join("; ")).join(". "));
    notice("question");
  }
}
