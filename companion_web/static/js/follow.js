// @ts-check
// Following the table: the stream of changes, and what to do when there is none.

import { keep, wish } from "./footer.js";

const SILENCE = 16000;     // ms without a heartbeat until the connection counts as lost
const KEEP_EVERY = 1000;   // ms between notes of what was seen last
const SLOW = 5000;         // ms between looks when there is no room for another stream

export function patched(shown, change) {
  const next = { ...shown };
  for (const [key, value] of Object.entries(change)) {
    if (!["gone", "sites", "moved"].includes(key)) next[key] = value;
  }
  for (const key of change.gone ?? []) delete next[key];
  if (change.sites) {
    next.layout = { ...shown.layout };
    for (const [site, contents] of Object.entries(change.sites)) {
      if (contents.length) next.layout[site] = contents;
      else delete next.layout[site];
    }
  }
  if (change.moved) next.moves = [...shown.moves.slice(0, change.moved.keep), ...change.moved.then];
  return next;
}

// show(snapshot) is called for every change, link(state) with "on", "lost" or "slow".
export function follow(show, link) {
  let shown = null, source = null, silence = 0, again = 0, looks = 0, keeping = null;

  function alive() {
    clearTimeout(silence);
    silence = setTimeout(() => { link("lost"); open(); }, SILENCE);
  }
  function take(snapshot) {
    shown = snapshot;
    show(shown);
    keeping ??= setTimeout(() => { keeping = null; keep("snapshot", JSON.stringify(shown)); }, KEEP_EVERY);
  }
  // The table does not answer at all: the board as this phone saw it last, till it does.
  function remember() {
    try {
      const kept = JSON.parse(wish("snapshot") ?? "null");
      if (kept) show(kept);
    } catch { /* kept by another version of this page */ }
  }
  function open() {
    source?.close();
    clearTimeout(again);
    alive();
    source = new EventSource("/api/stream");
    source.addEventListener("snapshot", e => { alive(); link("on"); stopLooking(); take(JSON.parse(e.data)); });
    source.addEventListener("change", e => { alive(); link("on"); if (shown) take(patched(shown, JSON.parse(e.data))); });
    source.addEventListener("beat", () => { alive(); link("on"); });
    source.addEventListener("bye", () => { link("lost"); later(1000); });
    source.addEventListener("error", () => {
      link("lost");
      // The browser tries again by itself unless the answer was a refusal (no room): then look now and then instead.
      if (source.readyState === EventSource.CLOSED) { look(); later(SLOW * 2); }
      if (!shown) remember();
    });
  }
  function later(ms) {
    source?.close();
    clearTimeout(silence);
    clearTimeout(again);
    again = setTimeout(open, ms * (0.75 + Math.random() / 2));
  }
  function stopLooking() { clearTimeout(looks); }
  async function look() {
    clearTimeout(looks);
    try {
      const answer = await fetch("/api/snapshot");
      if (answer.ok) { take(await answer.json()); link("slow"); }
    } catch { /* the next look tells */ }
    if (source?.readyState === EventSource.CLOSED) looks = setTimeout(look, SLOW);
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden && source?.readyState !== EventSource.OPEN) open(); });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", e => { if (e.persisted) open(); });
  open();
  return { again: open };
}
