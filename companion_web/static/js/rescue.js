// @ts-check
// The table cannot start: why, and what the host can do about it.

import { byId, fill, h } from "./dom.js";
import { footer } from "./footer.js";
import { ask, tell } from "./talk.js";
import { learn, say } from "./words.js";

const LOOK_MS = 3000;

const offered = said => ({
  "go-on": [say("Go on from the last good event ({good} of {said})", said), say("The damaged file is kept beside it.")],
  anew: [say("Put the damaged game aside and begin a new one"), say("The damaged file is kept beside it.")],
  "set-up": [say("Put the settings aside and set the table up anew"), say("The settings are kept beside it.")],
  again: [say("Try again"), ""],
});

async function refresh() {
  let said;
  try {
    said = await ask("/api/rescue");
  } catch (e) {
    if (e.status === 404) location.replace("/");      // it has started
    return;
  }
  byId("stranger").hidden = said.host || !said.pin;
  fill(byId("words"), [said.words], () => said.words ? h("code", null, said.words) : []);
  fill(byId("offers"), [said], () => [
    h("ul", { class: "plain" }, said.offers.map(what => h("li", null, h("button", { type: "button", class: what === said.offers[0] ? "strong" : null, onclick: () => act(what) }, offered(said)[what][0]), " ", h("span", { class: "hint" }, offered(said)[what][1])))),
    said.host && said.damaged ? h("p", null, h("a", { href: "/api/rescue/game.journal", download: "" }, say("Download the damaged file")), " · ", h("a", { href: "/api/rescue/game.jsonl", download: "" }, say("Download what can be read of it"))) : null,
  ]);
}

async function act(what) {
  byId("fault").textContent = "";
  try {
    await tell("/api/rescue", { do: what });
    fill(byId("offers"), ["starting"], () => h("p", null, say("The table starts.")));
  } catch (e) {
    byId("fault").textContent = e.message;
  }
}

byId("pin").addEventListener("submit", async e => {
  e.preventDefault();
  byId("pin-fault").textContent = "";
  try {
    await tell("/api/host", { pin: byId("pin-field", HTMLInputElement).value });
    await refresh();
  } catch (problem) {
    byId("pin-fault").textContent = problem.message;
  }
});

footer();
await learn();
await refresh();
setInterval(refresh, LOOK_MS);
document.body.dataset.ready = "1";
