// @ts-check
// The drawn twin of the board: sites and pieces of a plan as SVG, changed piece by piece.

import { h, s } from "./dom.js";
import { placeName, say, words } from "./words.js";

/** @typedef {import("../../types/page").Plan} Plan */

function shape(prim) {
  if (prim.t !== undefined) {
    const [x, y] = prim.at;
    return s("text", { x, y, dy: ".36em", "font-size": prim.size / 0.72, fill: prim.f, transform: prim.turn ? `rotate(${prim.turn} ${x} ${y})` : null }, document.createTextNode(prim.t));
  }
  const paint = { fill: prim.f ?? "none", stroke: prim.s, "stroke-width": prim.w };
  return prim.c ? s("circle", { cx: prim.c[0], cy: prim.c[1], r: prim.c[2], ...paint }) : s("path", { d: prim.d, ...paint });
}

/** @type {(plan: Plan, kind: string) => string} */
export const kindName = (plan, kind) => kind === "?" ? say("something below") : plan.pieces[kind] ? words(plan.pieces[kind].name) : kind;

// "a temple, the king of Lion": what lies on a site, the top one last; loose pieces counted.
/**
 * @param {Plan} plan
 * @param {string[]} contents
 * @returns {string}
 */
export function contentsInWords(plan, contents) {
  const counts = new Map();
  for (const kind of contents) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, n]) => n > 1 ? `${n} × ${kindName(plan, kind)}` : kindName(plan, kind)).join(", ");
}

// A small picture of one kind, for answers and facts.
/**
 * @param {Plan | null | undefined} plan
 * @param {string} kind
 */
export function pieceIcon(plan, kind) {
  const piece = plan?.pieces[kind] ?? plan?.faces?.[kind];
  if (!piece) return null;
  const [w, d] = piece.size;
  return s("svg", { viewBox: `${-w / 2 - 1} ${-d / 2 - 1} ${w + 2} ${d + 2}`, class: "piece", "aria-hidden": "true" }, piece.shapes.map(shape));
}

// A place whose row and column are printed on the board needs no name besides.
const printed = (plan, id) => {
  const [, column, row] = id.match(/^([A-Z])(\d+)$/) ?? [];
  return Boolean(column) && [column, row].every(sign => plan.board.some(prim => prim.t === sign));
};

let boards = 0;

export class Board {
  // photo: the address of a picture of the empty board from above, where nobody has drawn it
  /**
   * @param {import("../../types/page").Plan} plan
   * @param {{ label?: string, tapped?: (site: string) => void, photo?: string }} [options]
   */
  constructor(plan, { label, tapped, photo } = {}) {
    this.plan = plan;
    this.name = `b${++boards}`;
    this.shown = {};
    this.groups = new Map();
    this.turned = 0;
    const [w, h] = plan.size;
    this.defs = s("defs", null, Object.entries(plan.pieces).map(([kind, piece], i) => {
      piece.index = i;
      return s("g", { id: `${this.name}-${i}` }, piece.shapes.map(shape));
    }));
    this.print = s("g", { class: "print" }, photo ? s("image", { href: photo, width: w, height: h, preserveAspectRatio: "none" })
      : plan.board.length ? plan.board.map(shape) : s("rect", { width: w, height: h, class: "bare" }));
    this.sites = s("g", { class: "sites" }, Object.entries(plan.sites).map(([id, site]) =>
      s("g", { "data-site": id }, site.outlines.map(d => s("path", { d })))));
    this.marks = s("g", { class: "marks" });
    // Each place by its name, small enough for the place and turned with it: in the corner of a square one, above where pieces
    // lie on any other, whose corner may be its neighbour's.
    this.names = s("g", { class: "names", "aria-hidden": "true" }, Object.entries(plan.sites).filter(([id, site]) => !site.of && !printed(plan, id)).map(([id, site]) => {
      const [x, y, w, hh] = site.box, name = placeName(id), size = Math.min(hh * 0.26, w / (0.62 * name.length), plan.size[0] / 46);
      const square = site.outlines.length === 1 && site.outlines[0].split(/[ML]/).length <= 5;
      if (square || !site.spots) return s("text", { x: x + w * 0.05, y: y + size * 1.02, "font-size": size }, document.createTextNode(name));
      const [at, down] = site.spots[0], half = size * 0.25 * name.length;
      return s("text", { x: Math.max(half, Math.min(plan.size[0] - half, at)), y: down - size * 0.8, "font-size": size * 0.8, class: "over" }, document.createTextNode(name));
    }));
    this.pieces = s("g", { class: "pieces" });
    this.whole = s("g", null, this.print, this.sites, this.pieces, this.names, this.marks);
    this.svg = s("svg", { viewBox: `0 0 ${w} ${h}`, class: "twin", role: "img", "aria-label": label ?? say("The board, drawn") }, this.defs, this.whole);
    if (tapped) this.svg.addEventListener("click", e => {
      const place = this.svg.createSVGPoint();
      [place.x, place.y] = [e.clientX, e.clientY];
      const site = /** @type {Element} */ (e.target).closest("[data-site]")?.getAttribute("data-site");
      if (site) tapped(site);
    });
  }

  // quarter turns clockwise
  turn(quarters) {
    this.turned = ((quarters % 4) + 4) % 4;
    const [w, h] = this.plan.size;
    const [vw, vh] = this.turned % 2 ? [h, w] : [w, h];
    this.svg.setAttribute("viewBox", `0 0 ${vw} ${vh}`);
    this.whole.setAttribute("transform", `translate(${vw / 2} ${vh / 2}) rotate(${90 * this.turned}) translate(${-w / 2} ${-h / 2})`);
  }

  // Draws a layout; the sites that changed are returned.
  show(layout) {
    const changed = [];
    for (const site of new Set([...Object.keys(this.shown), ...Object.keys(layout)])) {
      const now = layout[site] ?? [], was = this.shown[site] ?? [];
      if (now.join("|") === was.join("|") || !this.plan.sites[site]) continue;
      changed.push(site);
      this.groups.get(site)?.remove();
      this.groups.delete(site);
      if (now.length) {
        const group = s("g", { "data-site": site }, this.lying(site, now));
        this.groups.set(site, group);
        this.pieces.append(group);
      }
    }
    if (changed.length) {
      this.shown = { ...layout };
      this.stack();
    }
    return changed;
  }

  // Pieces that cover several sites lie above those on their neighbours.
  stack() {
    for (const [site, group] of this.groups) {
      if ((this.shown[site] ?? []).some(k => this.plan.pieces[k]?.spans)) this.pieces.append(group);
    }
  }

  lying(id, contents) {
    const site = this.plan.sites[id];
    const [x, y, w, h] = site.box;
    /** @type {[number, number]} */
    const middle = [x + w / 2, y + h / 2];
    if (site.reads !== "cluster") {
      return contents.map(kind => {
        const [columns, rows] = this.plan.pieces[kind]?.spans ?? [1, 1];
        return this.piece(kind, [middle[0] + (columns - 1) * w / 2, middle[1] + (rows - 1) * h / 2], id);
      });
    }
    const loose = new Map(), out = [];
    for (const kind of contents) {
      if (this.plan.pieces[kind]?.first && !out.length) out.push(this.piece(kind, middle, id));
      else loose.set(kind, (loose.get(kind) ?? 0) + 1);
    }
    [...loose].sort().forEach(([kind, n], i) => {
      const spots = site.spots ?? [middle], spot = spots[i % spots.length];
      out.push(this.piece(kind, spot, id, site.scale), n > 1 ? this.badge(kind, spot, n, site.scale) : null);
    });
    return out;
  }

  piece(kind, [x, y], site, scale = 1) {
    const piece = this.plan.pieces[kind];
    if (!piece) return null;
    const turn = this.plan.turns?.[kind]?.[site];
    return s("use", { href: `#${this.name}-${piece.index}`, transform: `translate(${x} ${y})${turn ? ` rotate(${turn})` : ""}${scale === 1 ? "" : ` scale(${scale})`}` });
  }

  badge(kind, [x, y], n, scale = 1) {
    const [w, d] = /** @type {number[]} */ (this.plan.pieces[kind]?.size ?? [10, 10]).map(v => v * scale);
    const r = Math.max(4.2, Math.min(w, d) * 0.36);
    const [bx, by] = [x + w / 2 - r * 0.35, y - d / 2 + r * 0.35];
    return s("g", { class: "badge" }, s("circle", { cx: bx, cy: by, r }), s("text", { x: bx, y: by, dy: ".36em", "font-size": r * 1.45 }, document.createTextNode(n)));
  }

  // marks: [{site, kind: "may" | "todo" | "wrong" | "asked" | "note" | "new"}]
  mark(marks) {
    this.marks.replaceChildren(...marks.flatMap(({ site, kind }) =>
      (this.plan.sites[site]?.outlines ?? []).map(d => s("path", { d, class: `mark ${kind}`, "data-site": site }))));
  }
}

// The board as a list: what a screen reader has instead of the drawing.
/**
 * @param {Plan} plan
 * @param {{ [site: string]: string[] }} layout
 */
export function boardInWords(plan, layout) {
  const sites = Object.keys(plan.sites).filter(id => layout[id]?.length);
  return sites.length ? sites.map(id => [h("dt", null, placeName(id)), h("dd", null, contentsInWords(plan, layout[id]))]) : [h("dt", null, "–"), h("dd", null, say("Nothing lies on the board."))];
}
