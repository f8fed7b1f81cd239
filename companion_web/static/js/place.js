// @ts-check
// What the chosen place is: its name, what is asked of it, its neighbours, its parts, its row.

import { byId, fill, h } from "./dom.js";
import { say, words } from "./words.js";
import { change, desk, hint, setMode, site } from "./desk.js";

const button = (text, onclick, more = {}) => h("button", { type: "button", onclick, ...more }, text);

export function placePanel() {
  const one = site(desk.chosen), ids = desk.drawing.sites.filter(p => !p.of).map(p => p.id);
  fill(byId("place").lastElementChild, [one?.id, one?.tags, one?.outlines.length, one?.touching, desk.borders[desk.chosen ?? ""], desk.asked[desk.chosen ?? ""], ids, desk.mode], () => [
    h("label", { class: "question" }, h("span", null, say("Place")), h("select", { "data-focus": "which", onchange: e => { desk.chosen = e.target.value || null; setMode("choose"); } },
      h("option", { value: "" }, "–"), desk.drawing.sites.map(p => h("option", { value: p.id, selected: p.id === desk.chosen }, p.id)))),
    one ? described(one) : h("p", { class: "hint" }, say("Tap a place on the photo, or choose it here."))]);
}

function described(one) {
  const asked = desk.asked[one.id] ?? desk.form.choices.filter(c => !c.when.length).map(c => c.name);
  return [
    h("label", { class: "question" }, h("span", null, say("Name")), h("input", { value: one.id, maxlength: 40, autocapitalize: "none", spellcheck: "false", "data-focus": "name", onchange: e => rename(one.id, e.target.value.trim()) })),
    desk.form.choices.filter(c => asked.includes(c.name)).map(c => question(one, c)),
    one.id in desk.borders ? neighbours(one) : null,
    h("div", { class: "row" },
      desk.form.draws && !one.of ? button(say("Another part of it"), () => setMode("draw", one.id)) : null,
      row(one) ? [button(say("One more in this row"), () => longer(one)), button(say("Take the row's last away"), () => shorter(one))] : null,
      desk.form.draws && !one.of && one.drawn ? button(say("Remove"), () => { desk.chosen = null; change(drawing => { drawing.sites = drawing.sites.filter(p => p.id !== one.id && p.of !== one.id); }); }) : null)];
}

function question(one, { name, text, tags, none }) {
  const has = tags.find(t => one.tags.includes(t.tag))?.tag ?? "";
  return h("label", { class: "question" }, h("span", null, words(text)), h("select", { "data-focus": `choice-${name}`, onchange: e => change(() => {
    const own = site(one.id);
    own.tags = [...own.tags.filter(t => !tags.some(({ tag }) => tag === t)), ...(e.target.value ? [e.target.value] : [])];
  }) }, h("option", { value: "" }, none ? words(none) : "–"), tags.map(({ tag, text: said }) => h("option", { value: tag, selected: tag === has }, words(said)))));
}

// Found by touching; the owner may know better.
function neighbours(one) {
  const now = desk.borders[one.id] ?? [], others = Object.keys(desk.borders).filter(id => id !== one.id && !now.includes(id)).sort();
  const set = (other, yes) => change(() => { site(one.id).touching[other] = yes; delete site(other).touching[one.id]; });
  return [
    h("div", { class: "question" }, h("span", null, say("Touches")), h("div", { class: "row" }, now.map(id => button(`${id} ×`, () => set(id, false), { "aria-label": say("does not touch {site}", { site: id }) })))),
    h("label", { class: "question" }, h("span", null, say("Touches also")), h("select", { "data-focus": "touches", onchange: e => e.target.value && set(e.target.value, true) }, h("option", { value: "" }, "–"), others.map(id => h("option", { value: id }, id))))];
}

function rename(old, name) {
  if (!name || name === old) return;
  if (site(name)) {
    hint(say("{site} stands twice", { site: name }));
    return desk.show();
  }
  desk.chosen = name;
  change(drawing => {
    for (const p of drawing.sites) {
      if (p.id === old) p.id = name;
      if (p.of === old) Object.assign(p, { of: name, id: p.id.startsWith(`${old}.`) ? name + p.id.slice(old.length) : p.id });
      if (old in p.touching) {
        p.touching[name] = p.touching[old];
        delete p.touching[old];
      }
    }
  });
}

// The places of the row that a place ROW.2 lies in, first to last; null where the game has no such rows.
function row(one) {
  const [, stem, number] = one.id.match(/^(.*\.)(\d+)$/) ?? [];
  if (!number || !one.tags.some(t => desk.form.rows.includes(t))) return null;
  return desk.drawing.sites.filter(p => p.id.startsWith(stem) && /^\d+$/.test(p.id.slice(stem.length))).sort((a, b) => Number(a.id.slice(stem.length)) - Number(b.id.slice(stem.length)));
}

// The new one lies as far from the last as that from the one before; beside it where it was alone.
function longer(one) {
  const places = row(one) ?? [one], last = places[places.length - 1], prior = places.at(-2), stem = last.id.replace(/\d+$/, "");
  const corner = p => p.outlines[0][0], wide = last.outlines[0].map(p => p[0]);
  const [dx, dy] = prior ? [0, 1].map(i => corner(last)[i] - corner(prior)[i]) : [Math.max(...wide) - Math.min(...wide), 0];
  const id = stem + (Number(last.id.slice(stem.length)) + 1);
  desk.chosen = id;
  change(drawing => drawing.sites.splice(drawing.sites.indexOf(last) + 1, 0, { ...structuredClone(last), id, drawn: true, outlines: last.outlines.map(o => o.map(([x, y]) => [x + dx, y + dy])) }));
}

function shorter(one) {
  const [last, prior] = (row(one) ?? []).reverse();
  if (!prior) return;
  desk.chosen = prior.id;
  change(drawing => { drawing.sites = drawing.sites.filter(p => p.id !== last.id); });
}
