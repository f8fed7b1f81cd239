// @ts-check
// Sitting down, and what the host can do about seats.

import { byId, h } from "./dom.js";
import { footer, keep, wish, keepPages } from "./footer.js";
import { speak } from "./notice.js";
import { ask, tell } from "./talk.js";
import { learn, region, say, words } from "./words.js";

// The code stands behind # and is taken out of the address at once: nobody reads it off the phone later.
const code = location.hash.slice(1) || sessionStorage.getItem("nilometer.code") || "";
if (location.hash) {
  sessionStorage.setItem("nilometer.code", code);
  history.replaceState(null, "", location.pathname);
}

let snapshot = null;

async function refresh() {
  try {
    snapshot = await ask("/api/snapshot");
  } catch (e) {
    byId("seats").replaceChildren(h("p", { class: "fault" }, e.message));
    return;
  }
  const { you, table } = snapshot;
  byId("seats").replaceChildren(
    h("p", null, you.seats.length ? say("You have a seat: {names}.", { names: you.seats.map(named).join(", ") }) : code || you.host ? say("Choose your seat.") : say("To sit down, scan the code the host shows. Looking on needs no seat.")),
    h("ul", { class: "seats" }, snapshot.seats.map(seat => line(seat, you, table.taken.includes(seat.id)))),
    h("p", { class: "fault", id: "seat-fault", role: "alert" }),
    ...(you.seats.length || you.host ? [h("div", { class: "row" }, h("a", { class: "button strong", href: "/" }, say("To the board")), h("button", { type: "button", onclick: () => act(() => tell("/api/leave", {})) }, say("Leave seat")))] : []));
  byId("pin-panel").hidden = you.host;
  byId("host-panel").hidden = !you.host;
  if (!you.host) byId("copy-panel").hidden = true;
  if (you.host) showHost(table);
}

const named = id => words(snapshot.seats.find(seat => seat.id === id)?.name) || id;

function line(seat, you, taken) {
  const own = you.seats.includes(seat.id), name = words(seat.name);
  const may = !taken && (you.host || code);
  return h("li", { colour: seat.colour },
    h("span", { class: "seat", colour: seat.colour }, name), " ",
    h("span", { class: "state" }, own ? say("you") : taken ? say("taken") : say("free")),
    own ? naming(seat) : snapshot.settings?.names?.[seat.id] ? h("span", null, snapshot.settings.names[seat.id]) : null,
    may ? h("button", { type: "button", "aria-label": say("Sit down as {name}", { name }), onclick: () => sit(seat.id) }, say("Sit down")) : null,
    you.host && taken ? h("button", { type: "button", "aria-label": say("Free the seat of {name}", { name }), onclick: () => act(() => tell("/api/host/free", { seat: seat.id })) }, say("Free this seat")) : null);
}

// Who sits there, kept on this phone for the next game.
function naming(seat) {
  const id = `name-${seat.id}`, field = h("input", { id, maxlength: "24", autocomplete: "given-name", value: snapshot.settings?.names?.[seat.id] ?? "" });
  return h("form", { class: "naming", onsubmit: e => {
    e.preventDefault();
    keep("name", field.value.trim());
    act(() => tell("/api/name", { seat: seat.id, name: field.value.trim() }), () => { speak(say("Saved.")); byId(id)?.parentElement?.append(h("span", { class: "saved" }, "✓ ", say("Saved."))); });
  } }, h("label", { for: id }, say("Your name")), field, h("button", null, say("Save")));
}

const sit = seat => act(async () => {
  await (snapshot.you.host ? tell("/api/host/seat", { seat }) : tell("/api/join", { code, seat }));
  if (wish("name") && !snapshot.settings?.names?.[seat]) await tell("/api/name", { seat, name: wish("name") });
  speak(say("You have a seat: {names}.", { names: named(seat) }));
});

// Does it and, if that went well, what comes then.
async function act(doing, then = () => {}) {
  try {
    await doing();
    await refresh();
    then();
  } catch (e) {
    await refresh();
    byId("seat-fault").textContent = e.message;
  }
}

// The copy that is played with: how well it is read, what it learnt, where its plan is corrected.
async function showCopy() {
  const box = byId("copy-panel"), copy = await ask("/api/host/copy");
  box.hidden = !copy.folder;
  if (box.hidden) return;
  box.lastElementChild?.replaceChildren(
    h("p", null, copy.report ? h("a", { href: "/report" }, say("How well this copy is read: the calibration's report")) : say("There is no report of the calibration yet.")),
    ...(copy.learnt ? [h("p", null, say("The reader has learnt from games at this table.")), h("div", { class: "row" }, h("button", { type: "button", onclick: () => act(() => tell("/api/host/unlearn", {}), () => speak(say("From the table's next start on it reads as before."))) }, say("Take back what it learnt")))] : []),
    copy.photo ? h("p", null, h("a", { href: "/trace" }, say("The board is printed otherwise? Correct its plan on the photo"))) : "");
}

// Who is in, by which phone; any of them can be sent out.
async function phones() {
  const found = await ask("/api/host/sessions");
  const end = id => act(() => tell("/api/host/end", { id }));
  return h("details", { class: "phones" }, h("summary", null, say("Phones that are in ({n})", { n: found.length })),
    h("ul", { class: "plain" }, found.map(s => h("li", null, [s.host ? say("Host") : null, ...s.seats.map(named)].filter(Boolean).join(", "), " ",
      h("span", { class: "hint" }, `${s.address} · ${new Date(1000 * s.seen).toLocaleString(region)}`), " ",
      s.own ? h("span", { class: "hint" }, say("this phone")) : h("button", { type: "button", onclick: () => end(s.id) }, say("End it"))))),
    found.length > 1 ? h("button", { type: "button", onclick: () => end("others") }, say("End all but this phone's")) : null);
}

async function showHost(table) {
  showCopy();
  const { link } = await ask("/api/join");
  const wish = (name, text, on) => h("label", null, h("input", { type: "checkbox", checked: on, onchange: e => act(() => tell("/api/host/settings", { [name]: e.target.checked ? 1 : 0 })) }), " ", text);
  byId("host-panel").lastElementChild?.replaceChildren(
    h("p", null, say("Players scan this to sit down. Show it only to them.")),
    h("img", { class: "qr", src: `/join.svg?${encodeURIComponent(Date.now())}`, width: 220, height: 220, alt: say("QR code of the joining link") }),
    h("p", { class: "link" }, h("code", null, link)),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => act(() => tell("/api/host/link", {})) }, say("Make a new link")),
      h("button", { type: "button", onclick: () => navigator.clipboard?.writeText(link).then(() => speak(say("copied"))) }, say("Copy the link"))),
    h("p", null, wish("joining", say("Players may sit down"), table.joining)),
    h("p", null, wish("hidden_scores", say("Scores stay hidden till the end"), Boolean(snapshot.settings?.hidden_scores))),
    h("p", null, h("a", { href: "/api/record.journal", download: "" }, say("Download this game"))),
    await phones());
}

byId("pin").addEventListener("submit", async e => {
  e.preventDefault();
  const field = byId("pin-field", HTMLInputElement), fault = byId("pin-fault");
  fault.textContent = "";
  try {
    await tell("/api/host", { pin: field.value });
    field.value = "";
    await refresh();
    byId("host-head").scrollIntoView({ block: "nearest" });
  } catch (problem) {
    fault.textContent = problem.message;
    field.select();
  }
});

footer();
await learn();
await refresh();
document.body.dataset.ready = "1";
keepPages();
