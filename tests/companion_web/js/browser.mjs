// As much of a browser as the page's modules need to be loaded and to build elements in.

class FakeElement {
  constructor(tag) {
    this.tag = tag;
    this.attributes = {};
    this.children = [];
    this.listeners = {};
    this.dataset = {};
    this.style = { setProperty: (name, value) => { this.attributes[name] = value; } };
    this.classList = { toggle: (name, on) => { this.attributes[`class ${name}`] = on; } };
    this.hidden = false;
  }

  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener(name, heard) { this.listeners[name] = heard; }
  contains() { return false; }
  get textContent() { return this.children.map(c => c instanceof FakeElement ? c.textContent : String(c)).join(""); }
  get lastElementChild() { return this; }
  // every element below that has this attribute with this value
  having(name, value) {
    const below = this.children.filter(c => c instanceof FakeElement).flatMap(c => [c, ...c.having(name, value)]);
    return below.filter(c => c.attributes[name] === value);
  }
}

const byId = new Map();
export const element = id => byId.get(id) ?? byId.set(id, new FakeElement("div")).get(id);

const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
define("document", {
  documentElement: { lang: "en" },
  getElementById: element,
  createElement: tag => new FakeElement(tag),
  createElementNS: (_, tag) => new FakeElement(tag),
  createTextNode: text => String(text),
  activeElement: null,
  querySelectorAll: () => [],
});
define("navigator", { languages: ["en-GB"] });
define("location", { protocol: "http:", reload() {} });
const kept = new Map();
define("localStorage", { getItem: name => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) });

const text = t => ({ t });

// A snapshot as two people see it in the midst of a game; `more` replaces what a test is about.
export const snapshot = (more = {}) => ({
  game: "tigris", title: text("Tigris & Euphrates"), version: 3, serial: 3, start: 1,
  seats: [{ id: "bull", name: text("Bull"), colour: "#c02020" }, { id: "lion", name: text("Lion"), colour: "#2060c0" }],
  you: { host: false, seats: ["bull"] }, turn: "bull", actors: ["bull"], settings: { hidden_scores: false },
  scores: { bull: { red: 2, black: 0 }, lion: { red: 0, black: 1 } }, standing: { bull: 0, lion: 0 },
  opening: { bull: { red: 0, black: 0 }, lion: { red: 0, black: 0 } }, outcome: null, question: null,
  view: { seats: [], tracks: [], coming: [], tables: [], notes: [], highlight: {}, phase: text("actions"), round: 2, left: null },
  verdict: { verdict: "same", actions: [], certain: true, text: text("ready"), back: [], violations: [], todo: [], sites: [], wrong: {} },
  moves: [
    { event: 2, seat: "bull", text: "bull: tile red C4", words: [text("Bull lays a temple on C4")], scores: { bull: { red: 1, black: 0 }, lion: { red: 0, black: 0 } } },
    { event: 3, seat: "lion", text: "lion: tile black E5", words: [], scores: { bull: { red: 1, black: 0 }, lion: { red: 0, black: 1 } } },
  ],
  camera: { state: "ok", by: "markers", error_px: 0.3, fps: 5 }, layout: {}, undone: [], machine: [],
  ...more,
});
