// @ts-check
// The rules' words behind every number.

import { byId, h } from "./dom.js";
import { ask } from "./talk.js";
import { language, say } from "./words.js";

export function ruleButton(game, number) {
  return h("button", { type: "button", class: "rule", "data-focus": `rule-${number}`, "aria-haspopup": "dialog", "aria-label": say("Rule {number}, read it", { number }), onclick: () => readRule(game, number) }, number);
}

/**
 * Opens the page's one dialog with a heading and whatever belongs below it.
 * @param {string} head
 * @param {...import("../../types/page").Children} children
 */
export function openDialog(head, ...children) {
  const dialog = byId("dialog", HTMLDialogElement);
  dialog.replaceChildren(
    h("div", { class: "dialog-top" }, h("h2", { id: "dialog-head", tabindex: "-1" }, head),
      h("button", { type: "button", class: "close", "aria-label": say("Close"), onclick: () => dialog.close() }, "×")),
    h("div", { class: "dialog-body" }, children));
  dialog.onclick = e => { if (e.target === dialog) dialog.close(); };
  if (!dialog.open) dialog.showModal();
  byId("dialog-head").focus();
  return dialog;
}

// The ledger marks its own rulings with *stars*.
const marked = text => text.split(/\*([^*]+)\*/).map((part, i) => i % 2 ? h("em", null, part) : part);

// Where the number comes from: the passage of the rules' own text, which is Dutch.
const fromText = ({ places, source }) => source?.length ? h("details", { class: "source" }, h("summary", null, say("From the rules' text: {places}", { places: places.join(", ") })),
  source.map(text => h("blockquote", { lang: "nl" }, text))) : null;

async function readRule(game, number) {
  try {
    const rule = await ask(`/api/rules/${encodeURIComponent(game)}/${encodeURIComponent(number)}?language=${language}`);
    openDialog(say("Rule {number}", { number: rule.number }), h("p", { class: "heading", lang: rule.language }, rule.heading), h("p", { class: "ruletext", lang: rule.language }, marked(rule.text)), fromText(rule),
      h("p", null, h("button", { type: "button", onclick: () => readRules(game, number) }, say("All rules"))));
  } catch (e) {
    openDialog(say("Rule {number}", { number }), h("p", { class: "fault" }, e.message));
  }
}

export async function readRules(game, number) {
  let all;
  try {
    all = await ask(`/api/rules/${encodeURIComponent(game)}?language=${language}`);
  } catch (e) {
    openDialog(say("The rules"), h("p", { class: "fault" }, e.message));
    return;
  }
  const list = h("div", { class: "rules" });
  const draw = wanted => {
    const out = [];
    let heading = null;
    for (const rule of all) {
      if (wanted && !`${rule.number} ${rule.text} ${rule.heading}`.toLowerCase().includes(wanted)) continue;
      if (rule.heading !== heading) out.push(h("h3", { lang: rule.language }, heading = rule.heading));
      out.push(h("p", { id: `rule-${rule.number}`, lang: rule.language }, h("b", null, rule.number), " ", marked(rule.text)));
    }
    list.replaceChildren(...(out.length ? out : [h("p", null, say("No rule says that."))]));
  };
  draw("");
  openDialog(say("The rules"), h("label", { class: "search" }, say("Find"), " ", h("input", { type: "search", oninput: e => draw(e.target.value.trim().toLowerCase()) })), list);
  if (number) list.querySelector(`#rule-${CSS.escape(number)}`)?.scrollIntoView({ block: "center" });
}
