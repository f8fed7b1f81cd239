// @ts-check
// Tap a place, tap what lies there: two taps put the table right.

import { h } from "./dom.js";
import { contentsInWords, pieceIcon } from "./board.js";
import { correct } from "./edit.js";
import { openDialog } from "./rules.js";
import { ask, tell } from "./talk.js";
import { placeName, say, sentence } from "./words.js";

const named = (plan, contents) => contents.length ? contentsInWords(plan, contents) : say("nothing");

export async function askPlace(snapshot, plan, site, failed) {
  let found;
  try {
    found = await ask(`/api/place/${encodeURIComponent(site)}`);
  } catch (e) {
    return failed(e);
  }
  const same = contents => contents.join("|") === found.contents.join("|");
  const put = async contents => {
    dialog.close();
    try {
      await tell("/api/place", { site, contents });
    } catch (e) {
      // What the rules know no way to is still what lies there, if the host says so.
      if (snapshot.you.host && e.status === 409) await tell("/api/host/edit", { site, contents }).catch(failed);
      else failed(e);
    }
  };
  const dialog = openDialog(placeName(site),
    found.picture ? h("img", { class: "spot", src: `/api/place/${encodeURIComponent(site)}/picture.jpg?${Date.now()}`, alt: say("{site}, as the camera sees it", { site: placeName(site) }), width: "160", height: "160", onerror: e => e.target.remove() }) : null,
    h("p", null, say("Here lies: {pieces}", { pieces: named(plan, found.contents) })),
    h("h3", null, say("Does something else lie here? Tap it.")),
    h("div", { class: "answers pictured" }, found.may.filter(contents => !same(contents)).map(contents => h("button", { type: "button", onclick: () => put(contents) },
      contents.length ? contents.slice(-3).map(kind => pieceIcon(plan, kind)) : null, h("span", null, sentence(named(plan, contents)).replace(/\.$/, ""))))),
    snapshot.you.host ? h("div", { class: "row" }, h("button", { type: "button", onclick: () => correct(snapshot, plan, site, failed) }, say("Something else …"))) : null);
}
