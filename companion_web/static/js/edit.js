// @ts-check
// The host's correction: what really lies on a place, said by hand.

import { h } from "./dom.js";
import { kindName, pieceIcon } from "./board.js";
import { openDialog } from "./rules.js";
import { tell } from "./talk.js";
import { say } from "./words.js";

export function correct(snapshot, plan, site, failed) {
  let contents = [...(snapshot.layout[site] ?? [])].filter(kind => plan.pieces[kind]);
  const list = h("ol", { class: "contents" });
  const draw = () => list.replaceChildren(...(contents.length ? contents.map((kind, i) => h("li", null, pieceIcon(plan, kind), h("span", null, kindName(plan, kind)),
    h("button", { type: "button", "aria-label": say("Take off {piece}", { piece: kindName(plan, kind) }), onclick: () => { contents = contents.filter((_, n) => n !== i); draw(); } }, say("Take off"))))
    : [h("li", { class: "hint" }, say("nothing"))]));
  const seats = new Set(snapshot.seats.map(({ id }) => id));      // what belongs to nobody here stays in the box
  const kinds = Object.keys(plan.pieces).filter(kind => !plan.pieces[kind].seat || seats.has(plan.pieces[kind].seat)).sort((a, b) => kindName(plan, a).localeCompare(kindName(plan, b)));
  const adding = h("select", null, kinds.map(kind => h("option", { value: kind }, kindName(plan, kind))));
  draw();
  const dialog = openDialog(say("Correct the board"),
    h("p", null, say("What really lies there? The rules go on from it.")),
    h("label", null, say("Place"), " ", h("select", { onchange: e => correct(snapshot, plan, e.target.value, failed) }, Object.keys(plan.sites).map(id => h("option", { value: id, selected: id === site }, id)))),
    list,
    h("div", { class: "row" }, h("label", null, h("span", { class: "unseen" }, say("Piece")), adding), h("button", { type: "button", onclick: () => { contents = [...contents, adding.value]; draw(); } }, say("Put it on top"))),
    h("div", { class: "row" },
      h("button", { type: "button", class: "strong", onclick: async () => {
        dialog.close();
        try { await tell("/api/host/edit", { site, contents }); } catch (e) { failed(e); }
      } }, say("That is how it is")),
      h("button", { type: "button", onclick: () => dialog.close() }, say("No"))));
}
