// @ts-check
// "Where may I?": a piece is chosen, its places light up, and a tap on another place says which rule forbids it.

import { byId, h } from "./dom.js";
import { kindName, pieceIcon } from "./board.js";
import { openDialog, ruleButton } from "./rules.js";
import { ask } from "./talk.js";
import { placeName, say, sentence, words } from "./words.js";

let chosen = null;      // {seat, kind, sites}

// The places to light up on the board; [] while nobody asks.
export const mayGo = () => chosen?.sites ?? [];
export const stopAsking = () => { chosen = null; };

// pieces: kinds a seat may put down now; redraw: called when the board is to be marked anew.
export function whereMayI(plan, seat, pieces, redraw) {
  if (!plan || !pieces.length) return null;
  const choose = async (kind, button) => {
    if (chosen?.kind === kind) stopAsking();
    else {
      const found = await ask(`/api/may?seat=${encodeURIComponent(seat)}&piece=${encodeURIComponent(kind)}`).catch(() => null);
      chosen = found ? { seat, kind, sites: found.sites } : null;
    }
    button.parentElement.querySelectorAll("button").forEach(b => b.setAttribute("aria-pressed", String(Boolean(chosen) && b === button)));
    redraw();
    if (chosen) byId("board")?.scrollIntoView({ block: "nearest" });      // on a phone it is a screen further up
  };
  return h("details", { class: "may" }, h("summary", null, say("Where may I?")), h("p", { class: "hint" }, say("Choose a piece: its places light up. Tap another place to read why not there.")),
    h("div", { class: "quick" }, pieces.map(kind => h("button", { type: "button", "aria-pressed": String(chosen?.kind === kind), onclick: e => choose(kind, e.currentTarget) }, pieceIcon(plan, kind), h("span", null, kindName(plan, kind))))));
}

// A tap while a piece is chosen; false: nobody asks, the tap means something else.
export async function whyNot(snapshot, plan, site, failed) {
  if (!chosen) return false;
  const { seat, kind, sites } = chosen, head = `${kindName(plan, kind)}: ${placeName(site)}`;
  if (sites.includes(site)) {
    openDialog(head, h("p", null, say("Yes, it may go there.")));
    return true;
  }
  try {
    const found = await ask(`/api/why?seat=${encodeURIComponent(seat)}&piece=${encodeURIComponent(kind)}&site=${encodeURIComponent(site)}`);
    openDialog(head, found.violations.length ? h("ul", { class: "broken" }, found.violations.map(({ rule, text }) => h("li", null, ruleButton(snapshot.game, rule), " ", sentence(words(text)))))
      : h("p", null, say("It may not go there now.")));
  } catch (e) {
    failed(e);
  }
  return true;
}
