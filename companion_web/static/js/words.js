// Sentences in the reader's language. A text is {t: English template, a: arguments}; arguments may be texts themselves.

let texts = {};
export let language = document.documentElement.lang || "en";

export async function learn() {
  const answer = await fetch(`/locale/${language}.json`);
  texts = answer.ok ? (await answer.json()).texts : {};
}

const filled = (template, args) => template
  .replace(/\{\{|\}\}|\{(\w+)(?::[^}]*)?\}/g, (all, name) => all === "{{" ? "{" : all === "}}" ? "}" : name in args ? words(args[name]) : all);

export function say(template, args = {}) {
  return filled(texts[template] ?? template, args);
}

// What the table sent: a text, a plain word or a number.
export function words(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && "t" in value) {
    const template = texts[value.t] ?? value.t;
    return value.a ? filled(template, value.a) : template;
  }
  return typeof value === "number" ? value.toLocaleString(language) : texts[value] ?? String(value);
}

// "1 h 20 min", "4 min", "35 s"
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return say("{n} s", { n: Math.round(seconds) });
  return minutes < 60 ? say("{n} min", { n: minutes }) : say("{h} h {n} min", { h: Math.floor(minutes / 60), n: minutes % 60 });
}

export function choose(code) {
  document.cookie = `nilometer_language=${code}; path=/; max-age=31536000; samesite=strict`;
  location.reload();
}
