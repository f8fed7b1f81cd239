// @ts-check
// The live picture with advice on light, sharpness and framing; and corners tapped on it.

import { byId, fill, h, s } from "./dom.js";
import { say, words } from "./words.js";

const EVERY = 1000;      // ms between pictures
const STEP = 0.005;      // of the picture: how far an arrow key moves a corner

const SPAN = 0.12;       // of the picture's width: what is shown of a corner's surroundings, magnified

// Before there is a set: only what the camera sees, nothing to tap.
const LOOKING = { markers: true, name: null, corners: null, steps: [{ taken: true }] };

let corners = [], markers = null, name = null, picture = null, marks = null;
let shape = 4 / 3;       // of the last picture that came: its width by its height

// Four corners as shares of the picture's width and height, or null.
export const tapped = () => corners.length === 4 ? corners : null;

// choose: called with the number of the camera to see with; focus: called when its lens shall find its focus again.
export function showLive(said, choose, focus) {
  const box = byId("live"), session = said.session ?? LOOKING;
  if (markers !== session.markers || name !== session.name || !picture) {
    [markers, name] = [session.markers, session.name];
    corners = session.corners ?? [];
    make(box);
  }
  if (!markers) fill(byId("corners-part"), session.steps[0].taken, () => {
    byId("corners-part", HTMLDetailsElement).open = !session.steps[0].taken;
    return [...byId("corners-part").children];
  });
  fill(byId("which"), said.cameras, () => said.cameras.length === 1 ? [h("p", { class: "hint" }, say("Camera found: {names}", { names: said.cameras[0].name }))] : !said.cameras.length ? [] : [h("label", { for: "which-camera" }, say("Camera")), " ",
    h("select", { id: "which-camera", "data-focus": "which-camera", onchange: e => choose(Number(e.target.value)) },
      said.cameras.map((c, i) => h("option", { value: String(i), selected: c.chosen }, c.name)))]);
  const { framing, lens } = said;
  fill(byId("lens"), lens, () => lens.focuses ? focusing(lens, focus) : []);
  const told = said.session && said.session.next !== null;      // beside the button, which on a phone is a screen further down
  fill(byId("advice"), [framing, told], () => framing ? [
    h("p", { class: "figures" }, say("Light {light} of 255, sharpness {sharpness} %", { light: Math.round(framing.light), sharpness: Math.round(100 * framing.sharpness) }), markers && said.session ? [", ", say("{n} of 4 cards", { n: framing.cards.length })] : null),
    framing.faults.map(text => h("p", { class: "fault" }, words(text))),
    told ? null : framing.advice.map(text => h("p", null, words(text))),
    framing.faults.length + framing.advice.length ? null : h("p", null, say("That is a good picture.")),
  ] : []);
}

function focusing(lens, focus) {
  const [before, after] = lens.sharper, percent = share => Math.round(100 * share);
  const shown = (when, words) => h("figure", null, h("img", { src: `/api/setup/focus/${when}.jpg?${Date.now()}`, alt: "" }), h("figcaption", null, words));
  const search = async button => { button.disabled = true; await focus(); button.disabled = false; };
  return [h("div", { class: "row" }, h("button", { type: "button", "data-focus": "focus", onclick: e => search(e.currentTarget) }, say("Focus again"))),
    before === undefined ? null : h("div", { class: "sharper", role: "status" }, shown("before", say("Before: sharpness {n} %", { n: percent(before) })), shown("after", say("Now: sharpness {n} %", { n: percent(after) })))];
}

function make(box) {
  picture = h("img", { class: "camera", alt: say("What the camera sees now") });
  marks = s("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", class: "corners", "aria-hidden": "true" });
  const frame = h("div", { class: "sight" }, picture, marks);
  const order = say("Tap the board's corners in the picture: upper left, upper right, lower right, lower left, as the board is printed.");
  box.replaceChildren(h("div", { id: "which", class: "row" }), frame, markers ? "" : h("details", { id: "corners-part", open: true },
    h("summary", null, say("The board's corners")), h("p", null, order),
    h("div", { class: "handles", role: "group", "aria-label": say("Corners") }),
    h("div", { class: "loupes", hidden: true }, h("p", null, say("Each corner magnified: tap there to put it right.")),
      [0, 1, 2, 3].map(i => h("canvas", { width: "300", height: "300", "aria-hidden": "true", onclick: e => putRight(e, i) }))),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => { corners = []; draw(); } }, say("All four anew")))), h("div", { id: "lens" }), h("div", { id: "advice" }));
  if (!markers) frame.addEventListener("click", e => {
    const { left, top, width, height } = picture.getBoundingClientRect();
    if (corners.length < 4) corners.push([(e.clientX - left) / width, (e.clientY - top) / height]);
    draw();
  });
  draw();
  next();
}

// Corners can be put and moved with the keyboard, too: the first press of an arrow puts one in the middle of its quarter.
function draw() {
  marks.replaceChildren(corners.length ? s("path", { d: `M${corners.map(c => c.join(" ")).join("L")}${corners.length === 4 ? "Z" : ""}` }) : "");
  const handles = byId("live").querySelector(".handles");
  if (!handles) return;
  magnify();
  const names = [say("upper left"), say("upper right"), say("lower right"), say("lower left")];
  fill(handles, [corners.length], () => names.map((name, i) => h("button", { type: "button", class: "tool", "data-focus": `corner-${i}`, disabled: i > corners.length, "aria-label": say("Corner {name}: move it with the arrow keys", { name }),
    onkeydown: e => nudge(e, i) }, `${i < corners.length ? "☑" : "☐"} ${name}`)));
}

// A finger is wider than a board's corner in a phone's small picture, and the board's sides are looked for near the corners only.
function magnify() {
  const box = /** @type {HTMLElement | null} */ (byId("live").querySelector(".loupes")), { naturalWidth: width, naturalHeight: height } = picture;
  if (!box) return;
  box.hidden = !corners.length;
  box.querySelectorAll("canvas").forEach((canvas, i) => {
    canvas.hidden = !corners[i];
    if (!corners[i] || !width) return;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), side = canvas.width, half = side / 2, shown = SPAN * width;
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, side, side);
    pen.drawImage(picture, corners[i][0] * width - shown / 2, corners[i][1] * height - shown / 2, shown, shown, 0, 0, side, side);
    pen.strokeStyle = "#ffd97a";
    pen.lineWidth = 3;
    for (const [x, y] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {      // a cross that leaves the corner itself free
      pen.beginPath();
      pen.moveTo(half + x * 0.06 * side, half + y * 0.06 * side);
      pen.lineTo(half + x * 0.3 * side, half + y * 0.3 * side);
      pen.stroke();
    }
  });
}

function putRight(e, i) {
  const { left, top, width, height } = e.currentTarget.getBoundingClientRect();
  const across = (e.clientX - left) / width - 0.5, down = (e.clientY - top) / height - 0.5;
  corners[i] = [corners[i][0] + across * SPAN, corners[i][1] + down * SPAN * shape];
  draw();
}

function nudge(e, i) {
  const [dx, dy] = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[e.key] ?? [0, 0];
  if (!dx && !dy || i > corners.length) return;
  e.preventDefault();
  corners[i] = corners[i] ? [corners[i][0] + dx, corners[i][1] + dy] : [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]][i];
  draw();
}

// The next picture is asked for when the last one is there: a slow network gets fewer.
function next() {
  const one = picture;
  const later = () => { if (one === picture) setTimeout(() => { one.src = `/api/setup/live.jpg?${Date.now()}`; }, document.hidden ? 5 * EVERY : EVERY); };
  one.addEventListener("load", later);
  one.addEventListener("load", () => {
    if (one !== picture) return;
    shape = one.naturalWidth / one.naturalHeight;   // a picture that failed to come has no size
    magnify();
  });
  one.addEventListener("error", later);
  one.src = `/api/setup/live.jpg?${Date.now()}`;
}
