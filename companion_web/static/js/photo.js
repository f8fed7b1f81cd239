// @ts-check
// The photo with what is drawn on it: taps, drags, two fingers, and a cross for the keyboard, all in the photo's pixels.

import { s } from "./dom.js";

const REACH = 20;     // pixels of the screen: a finger so near a handle means it
const STILL = 7;      // pixels of the screen a finger may slip and still tap

export class Photo {
  // on: { tapped(at, element), grabbed(name), dragged(at, by), dropped(), undo(), redraw(), holding() }
  constructor(box, [w, d], on) {
    this.box = box;
    this.w = w;
    this.d = d;
    this.on = on;
    /** @type {number[]} */
    this.view = [0, 0, w, d];
    /** @type {any} the cross, [x, y] */
    this.at = [w / 2, d / 2];
    /** @type {Map<number, { at: number[], x: number, y: number }>} */
    this.fingers = new Map();
    /** @type {any} what one finger does */
    this.press = null;
    this.apart = 0;   // between two fingers
    this.drawn = s("g");
    this.cross = s("path", { class: "cross" });
    this.svg = s("svg", { "aria-hidden": "true" }, s("image", { href: "/api/trace/photo.jpg", width: w, height: d }), this.drawn, this.cross);
    box.append(this.svg);
    this.svg.addEventListener("pointerdown", e => this.down(e));
    this.svg.addEventListener("pointermove", e => this.move(e));
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, e => this.up(e));
    this.svg.addEventListener("wheel", e => { e.preventDefault(); this.zoom(e.deltaY < 0 ? 1.2 : 1 / 1.2, this.place(e)); }, { passive: false });
    box.addEventListener("keydown", e => this.key(e));
    new ResizeObserver(() => on.redraw()).observe(box);
    this.look();
  }

  // photo pixels a screen pixel
  get scale() {
    const box = this.svg.getBoundingClientRect();
    return box.width ? Math.max(this.view[2] / box.width, this.view[3] / box.height) : 1;
  }

  draw(shapes) {
    this.drawn.replaceChildren(...shapes);
    this.mark();
  }

  look() {
    this.svg.setAttribute("viewBox", this.view.join(" "));
  }

  mark() {
    const [x, y] = this.at, r = 14 * this.scale;
    this.cross.setAttribute("d", `M${x - r} ${y}H${x + r}M${x} ${y - r}V${y + r}`);
  }

  zoom(by, at = this.at) {
    const [x, y, w, d] = this.view, f = Math.min(this.w / w, Math.max(1 / by, 0.04 * this.w / w));
    this.show([at[0] - (at[0] - x) * f, at[1] - (at[1] - y) * f, w * f, d * f]);
  }

  show([x, y, w, d]) {
    this.view = [Math.max(0, Math.min(this.w - w, x)), Math.max(0, Math.min(this.d - d, y)), w, d];
    this.look();
    this.on.redraw();
  }

  /**
   * @param {{ clientX: number, clientY: number }} e
   * @returns {any} [x, y] in the photo's pixels
   */
  place(e) {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(this.svg.getScreenCTM()?.inverse());
    return [p.x, p.y];
  }

  down(e) {
    this.svg.setPointerCapture(e.pointerId);
    const at = this.place(e), handle = this.handle(at);
    this.fingers.set(e.pointerId, { at, x: e.clientX, y: e.clientY });
    if (this.fingers.size === 2) {
      this.press = null;
      const [a, b] = this.fingers.values();
      this.apart = Math.hypot(a.x - b.x, a.y - b.y);
      return;
    }
    this.press = { at, last: at, x: e.clientX, y: e.clientY, target: e.target, handle, moved: false };
    if (handle) this.on.grabbed(handle);
  }

  move(e) {
    if (!this.fingers.has(e.pointerId)) return;
    const at = this.place(e), press = this.press;
    Object.assign(this.fingers.get(e.pointerId) ?? {}, { x: e.clientX, y: e.clientY });
    if (this.fingers.size === 2) {
      const [a, b] = this.fingers.values(), gap = Math.hypot(a.x - b.x, a.y - b.y);
      this.zoom(gap / this.apart, this.place({ clientX: (a.x + b.x) / 2, clientY: (a.y + b.y) / 2 }));
      this.apart = gap;
      return;
    }
    if (!press) return;
    press.moved ||= Math.hypot(e.clientX - press.x, e.clientY - press.y) > STILL;
    if (!press.moved) return;
    if (press.handle) this.on.dragged(at, [at[0] - press.last[0], at[1] - press.last[1]]);
    else this.show([this.view[0] + press.at[0] - at[0], this.view[1] + press.at[1] - at[1], this.view[2], this.view[3]]);
    press.last = at;
  }

  up(e) {
    this.fingers.delete(e.pointerId);
    const press = this.press;
    this.press = null;
    if (!press) return;
    if (press.handle) this.on.dropped();
    else if (!press.moved && e.type === "pointerup") {
      this.at = press.at;
      this.on.tapped(press.at, press.target);
    }
  }

  // Enter on a point takes it up, Enter again lays it down.
  key(e) {
    const step = (e.shiftKey ? 40 : 8) * this.scale, way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (way) {
      this.at = [Math.max(0, Math.min(this.w, this.at[0] + step * way[0])), Math.max(0, Math.min(this.d, this.at[1] + step * way[1]))];
      if (this.on.holding()) this.on.dragged([...this.at], [step * way[0], step * way[1]]);
      this.mark();
    } else if (e.key === "Enter" || e.key === " ") {
      if (this.on.holding()) this.on.dropped();
      else {
        const handle = this.handle(this.at);
        if (handle) this.on.grabbed(handle);
        else this.on.tapped([...this.at], this.under());
      }
    } else if (e.key === "+" || e.key === "=") this.zoom(1.5);
    else if (e.key === "-") this.zoom(1 / 1.5);
    else if (e.key === "Backspace") this.on.undo();
    else return;
    e.preventDefault();
  }

  // The nearest handle within a finger's reach: where they lie close, the one drawn last must not hide the others.
  handle([x, y]) {
    let best, nearest = REACH * this.scale;
    for (const circle of /** @type {NodeListOf<SVGCircleElement>} */ (this.drawn.querySelectorAll("[data-handle] .handle"))) {
      const gap = Math.hypot(circle.cx.baseVal.value - x, circle.cy.baseVal.value - y);
      if (gap < nearest) [best, nearest] = [circle.parentElement?.dataset.handle, gap];
    }
    return best;
  }

  under() {
    const p = new DOMPoint(...this.at).matrixTransform(this.svg.getScreenCTM() ?? undefined);
    const found = document.elementFromPoint(p.x, p.y);
    return this.svg.contains(found) ? found : null;
  }
}
