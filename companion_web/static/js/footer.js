// @ts-check
// What every page's foot does: language, light, and the wish for sound and vibration, kept on this phone.

import { byId } from "./dom.js";
import { choose } from "./words.js";

const kept = name => { try { return localStorage.getItem(`nilometer.${name}`); } catch { return null; } };
export const keep = (name, value) => { try { localStorage.setItem(`nilometer.${name}`, value); } catch { /* private window: not kept */ } };
export const wish = kept;

function light(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// Opens while the table is off, where the browser allows that: over https, or on the table's own machine.
export const keepPages = () => navigator.serviceWorker?.register("/worker.js").catch(() => {});

export function footer() {
  light(kept("theme") ?? "");
  const theme = byId("theme", HTMLSelectElement), spoken = byId("language", HTMLSelectElement);
  theme.value = kept("theme") ?? "";
  theme.addEventListener("change", () => { keep("theme", theme.value); light(theme.value); });
  spoken.addEventListener("change", () => choose(spoken.value));
  for (const [name, usual] of [["sound", "0"], ["buzz", "0"], ["voice", "0"], ["notation", "0"], ["names", "1"]]) {
    const box = byId(name, HTMLInputElement);
    if (!box) continue;
    box.checked = (kept(name) ?? usual) === "1";
    box.addEventListener("change", () => keep(name, box.checked ? "1" : "0"));
  }
}
