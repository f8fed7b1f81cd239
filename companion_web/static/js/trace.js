// @ts-check
// Drawing a plan on a photo of the empty board: outlines in the photo's pixels. The server turns them into a plan and checks it.

import { byId, fill, h, s } from "./dom.js";
import { change, desk, hint, report, setMode, site, take, undo } from "./desk.js";
import { footer } from "./footer.js";
import { Photo } from "./photo.js";
import { placePanel } from "./place.js";
import { ask } from "./talk.js";
import { learn, say, words } from "./words.js";

const NEAR = 13;      // pixels of the screen: a tap so close to a point means that point

/** @type {Photo} */
let photo;

function freeName(tags) {
  const named = desk.form.names.flatMap(name => desk.form.choices.find(c => c.name === name)?.tags ?? []).map(t => t.tag);
  const stem = named.find(tag => tags.includes(tag)) ?? "place";
  for (let n = 1; ; n++) if (!site(`${stem}-${n}`)) return `${stem}-${n}`;
}

function close() {
  const outline = desk.begun, partOf = desk.partOf;
  if (outline.length < 3) return;
  desk.begun = [];
  change(drawing => {
    if (partOf) {
      site(partOf).outlines.push(outline);
      desk.chosen = partOf;
      return;
    }
    // What was said of the last place drawn is likely to hold for the next one too, but for what is one's own.
    const last = desk.chosen ? site(desk.chosen)?.tags ?? [] : [];
    const likely = desk.form.choices.filter(c => c.none === null).flatMap(c => c.tags.map(t => t.tag));
    const tags = last.filter(tag => likely.includes(tag));
    desk.chosen = freeName(tags);
    drawing.sites.push({ id: desk.chosen, outlines: [outline], tags, reads: desk.form.draws, of: null, optional: false, drawn: true, touching: {} });
  });
  if (partOf) setMode("choose");
}

// The nearest point of any outline, so that neighbours share their border.
function snapped(at) {
  let best = at, nearest = NEAR * photo.scale;
  for (const one of desk.drawing.sites) for (const outline of one.of ? [] : one.outlines) for (const point of outline) {
    const gap = Math.hypot(point[0] - at[0], point[1] - at[1]);
    if (gap < nearest) [best, nearest] = [[...point], gap];
  }
  return best;
}

function tapped(at, target) {
  if (desk.mode === "draw") {
    const [first] = desk.begun;
    if (first && desk.begun.length > 2 && Math.hypot(first[0] - at[0], first[1] - at[1]) < NEAR * photo.scale) close();
    else desk.begun.push(snapped(at).map(v => Math.round(v * 10) / 10));
  } else if (desk.mode === "choose") {
    desk.chosen = target?.dataset?.site ?? null;
  }
  show();
}

// A handle: "corner 2", "point 0 3" (outline, point), "between 0 3" (a new point after it), "whole 0 0" (in its middle).
function grabbed(handle) {
  const [what, a, b] = handle.split(" ");
  desk.held = { what, a: Number(a), b: Number(b), was: JSON.stringify(desk.drawing) };
  if (what === "between") {
    site(desk.chosen).outlines[desk.held.a].splice(desk.held.b + 1, 0, [0, 0]);
    Object.assign(desk.held, { what: "point", b: desk.held.b + 1 });
  }
}

function dragged(at, by) {
  if (!desk.held) return;
  const one = site(desk.chosen);
  if (desk.held.what === "corner") (desk.held.corners ??= desk.drawing.corners.map(p => [...p]))[desk.held.a] = at;
  if (desk.held.what === "point") one.outlines[desk.held.a][desk.held.b] = at;
  if (desk.held.what === "whole") one.outlines = one.outlines.map(o => o.map(([x, y]) => [x + by[0], y + by[1]]));
  show();
}

function dropped() {
  if (!desk.held) return;
  const { what, was, corners, a, b } = desk.held;
  desk.held = null;
  if (what === "corner") {
    if (corners) {
      desk.before.push(was);
      report("/api/trace/corners", { corners, size: desk.drawing.size });
    }
    return show();
  }
  const one = site(desk.chosen);
  one.drawn = true;
  if (what === "point") one.outlines[a][b] = snappedToOthers(one, one.outlines[a][b]);
  desk.before.push(was);
  show();
  report("/api/trace");
}

function snappedToOthers(own, at) {
  const sites = desk.drawing.sites;
  desk.drawing.sites = sites.filter(one => one !== own);
  const best = own.of ? at : snapped(at);
  desk.drawing.sites = sites;
  return best;
}

export const resize = size => { desk.before.push(JSON.stringify(desk.drawing)); report("/api/trace/corners", { corners: desk.drawing.corners, size }); };

const path = outline => `M${outline.map(p => p.join(" ")).join("L")}Z`;
/** @type {(outline: number[][]) => any} */
const middle = outline => [0, 1].map(i => (Math.min(...outline.map(p => p[i])) + Math.max(...outline.map(p => p[i]))) / 2);

// Names stand where they fit; enlarged, more of them do.
const roomFor = (place, size) => place.id === desk.chosen || Math.max(...place.outlines[0].map(p => p[0])) - Math.min(...place.outlines[0].map(p => p[0])) > 0.62 * size * place.id.length;

function shapes() {
  const wrong = new Set(desk.faults.flatMap(f => f.sites)), size = 12 * photo.scale;
  const one = place => s("g", { "data-site": place.id }, place.outlines.filter(o => o.length > 2).map(o => [
    s("path", { d: path(o), class: `shape${place.of ? " spot" : ""}${wrong.has(place.id) ? " wrong" : ""}${place.id === desk.chosen ? " chosen" : ""}`, "data-site": place.id }),
    place.of || !roomFor(place, size) ? null : s("text", { class: "name", x: middle(o)[0], y: middle(o)[1], "font-size": size, dy: ".35em" }, document.createTextNode(place.id))]));
  const cells = desk.drawing.sites.filter(p => !p.of), spots = desk.drawing.sites.filter(p => p.of);
  return [...cells.map(one), ...spots.map(one)];
}

function handle(name, [x, y], kind = "") {
  const r = (kind === "between" ? 5 : 8) * photo.scale;
  return s("g", { "data-handle": name }, s("circle", { class: `handle ${kind}`, cx: x, cy: y, r }));
}

function handles() {
  if (desk.mode === "corners") return (desk.held?.corners ?? desk.drawing.corners).map((p, i) => [handle(`corner ${i}`, p), s("text", { class: "name", x: p[0], y: p[1], dy: "-1em", "font-size": 18 * photo.scale }, document.createTextNode(i + 1))]);
  const one = desk.mode === "choose" ? site(desk.chosen) : null;
  return (one?.outlines ?? []).map((o, a) => [
    ...o.map((p, b) => { const q = o[(b + 1) % o.length]; return Math.hypot(p[0] - q[0], p[1] - q[1]) > 56 * photo.scale ? handle(`between ${a} ${b}`, [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2], "between") : null; }),
    a === 0 ? handle("whole 0 0", middle(o), "between") : null,
    ...o.map((p, b) => handle(`point ${a} ${b}`, p, desk.held?.what === "point" && desk.held.a === a && desk.held.b === b ? "held" : ""))]);
}

function button(text, onclick, more = {}) {
  return h("button", { type: "button", onclick, ...more }, text);
}

function show() {
  if (!desk.drawing) return;
  const corners = desk.held?.corners ?? desk.drawing.corners;
  photo.draw([...shapes(), s("path", { class: "frame-line", d: path(corners) }),
    desk.begun.length ? s("path", { class: "begun", d: `M${desk.begun.map(p => p.join(" ")).join("L")}` }) : null,
    ...desk.begun.map(p => s("circle", { class: "handle", cx: p[0], cy: p[1], r: 6 * photo.scale })), ...handles()].flat(3).filter(Boolean));
  byId("undo", HTMLButtonElement).disabled = !desk.begun.length && !desk.before.length;
  const modes = { corners: say("Corners"), choose: say("Choose"), ...(desk.form.draws ? { draw: say("Draw") } : {}) };
  fill(byId("modes"), [desk.mode], () => Object.entries(modes).map(([mode, text]) => button(text, () => setMode(mode), { "aria-pressed": String(mode === desk.mode), "data-focus": mode })));
  fill(byId("tools"), [desk.mode, desk.begun.length], () => [
    desk.begun.length > 2 ? button(say("Close the outline"), close, { class: "strong", "data-focus": "close" }) : null,
    button("+", () => photo.zoom(1.5), { "aria-label": say("Larger"), "data-focus": "larger" }), button("−", () => photo.zoom(1 / 1.5), { "aria-label": say("Smaller"), "data-focus": "smaller" })]);
  fill(byId("check").lastElementChild, desk.faults, () => desk.faults.length
    ? h("ul", { class: "faults" }, desk.faults.map(f => h("li", { class: f.stops ? "stops" : null }, button(words(f.text), () => { desk.chosen = f.sites[0] ?? null; setMode("choose"); }))))
    : h("p", null, say("Nothing: this plan can be played.")));
  fill(byId("board-size").lastElementChild, [desk.drawing.size, desk.drawing.joined, desk.form.draws], () => sizePanel());
  placePanel();
  document.body.dataset.ready = String(desk.sent);
}

function sizePanel() {
  const [w, d] = desk.drawing.size;
  const field = (text, value, of) => h("label", { class: "question" }, h("span", null, text), h("input", { type: "number", min: 20, max: 5000, step: "any", value, onchange: e => Number(e.target.value) > 0 && resize(of(Number(e.target.value))) }));
  return [
    field(say("Width in mm"), w, v => [v, d]), field(say("Height in mm"), d, v => [w, v]),
    h("div", { class: "row" }, button(say("Turn the corners"), () => { const c = desk.drawing.corners; desk.before.push(JSON.stringify(desk.drawing)); report("/api/trace/corners", { corners: [...c.slice(1), c[0]], size: desk.drawing.size }); })),
    desk.form.cells.length ? h("label", { class: "question" }, h("span", null, h("input", { type: "checkbox", checked: desk.drawing.joined, onchange: e => change(drawing => { drawing.joined = e.target.checked; }) }), " ", say("The left and the right edge join"))) : null,
    desk.form.draws && desk.form.cells.length ? h("div", { class: "row" }, button(say("Begin with an empty map"), () => { desk.chosen = null; change(drawing => {
      const cells = new Set(drawing.sites.filter(p => p.tags.some(t => desk.form.cells.includes(t))).map(p => p.id));
      drawing.sites = drawing.sites.filter(p => !cells.has(p.id) && !cells.has(p.of));
    }); setMode("draw"); })) : null];
}

async function save() {
  const answer = await report("/api/trace/save");
  if (answer) hint(answer.saved ? say("{file} is written.", { file: desk.file }) : say("Not written yet: what is in bold below must be mended first."));
}

footer();
await learn();
const first = await ask("/api/trace");
Object.assign(desk, { form: first.form, file: first.file, size: first.photo });
desk.show = show;
photo = new Photo(byId("photo"), first.photo, { tapped, grabbed, dragged, dropped, undo, redraw: show, holding: () => desk.held !== null });
byId("undo").addEventListener("click", undo);
byId("save").addEventListener("click", save);
take(first);
setMode("corners");
