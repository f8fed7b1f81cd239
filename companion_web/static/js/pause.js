// @ts-check
// A game taken up again: how the board should look, what the camera sees otherwise, how it looked when people stopped.

import { byId, fill, h } from "./dom.js";
import { contentsInWords } from "./board.js";
import { doing } from "./verdict.js";
import { tell } from "./talk.js";
import { placeName, region, say } from "./words.js";

const AT_ONCE = 8;      // differences shown without asking

const day = seconds => new Date(1000 * seconds).toLocaleString(region, { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });

export function showPause(snapshot, plan, failed) {
  const box = byId("pause"), { pause } = snapshot;
  box.hidden = !pause;
  if (!pause) return;
  const last = snapshot.moves.at(-1), begins = pause.since === null;
  fill(box, [pause, snapshot.you.host, Boolean(plan), last?.event], () => [
    h("h2", { id: "pause-head" }, begins ? say("The board is not laid out yet") : say("The game goes on")),
    begins ? null : h("p", null, say("You stopped on {day} after {n} moves.", { day: day(pause.since), n: snapshot.moves.length }), " ", last ? [say("The last move was:"), " ", doing(snapshot, last)] : null),
    h("p", null, say("Lay the board out as it is drawn here. Until it lies so, nothing counts as a move.")),
    pause.differs ? differences(pause.differs, plan) : h("p", { class: "hint" }, say("The camera has not seen the whole board yet.")),
    last?.pictures ? h("details", null, h("summary", null, say("The board as the camera saw it last")), h("img", { src: `/api/moves/${last.event}/after.jpg`, alt: say("The camera's picture after the last move"), loading: "lazy" })) : null,
    snapshot.you.host ? h("div", { class: "row" }, h("button", { type: "button", "data-focus": "go-on", onclick: () => tell("/api/host/go-on", {}).catch(failed) }, say("Play on with the board as it lies"))) : null,
  ]);
}

function differences(differs, plan) {
  if (!differs.length) return h("p", null, say("The board lies as it should."));
  const named = contents => contents.length ? (plan ? contentsInWords(plan, contents) : contents.join(", ")) : say("nothing");
  const rows = differs.map(({ site, should, seen }) => h("tr", null, h("th", { scope: "row" }, placeName(site)), h("td", null, named(should)), h("td", null, named(seen))));
  const table = some => h("table", null, h("thead", null, h("tr", null, [say("Place"), say("belongs there"), say("the camera sees")].map(c => h("th", { scope: "col" }, c)))), h("tbody", null, some));
  return [h("p", { class: "count" }, differs.length === 1 ? say("One place differs:") : say("{n} places differ:", { n: differs.length })),
    table(rows.slice(0, AT_ONCE)),
    rows.length > AT_ONCE ? h("details", null, h("summary", null, say("{n} more", { n: rows.length - AT_ONCE })), table(rows.slice(AT_ONCE))) : null];
}
