// @ts-check
// Asking the table and telling it: every answer is data, every failure a sentence.

import { say, words } from "./words.js";

export class Refusal extends Error {
  constructor(status, data) {
    super(data?.text ? words(data.text) : say("The table does not answer."));
    this.status = status;
    this.violations = data?.violations ?? [];
  }
}

async function spoken(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refusal(0, null);
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refusal(answer.status, data);
  return data;
}

export const ask = path => spoken(path, { headers: { Accept: "application/json" } });
export const tell = (path, data) => spoken(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data ?? {}),
});
