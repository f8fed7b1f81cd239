// @ts-check
// Being noticed: said to a screen reader, and, where wished, heard and felt.

import { byId } from "./dom.js";
import { wish } from "./footer.js";
import { region } from "./words.js";

let audio = null;

// A page may only sound once somebody has touched it: the first touch makes ready for the first tone.
function unlock() {
  if (wish("sound") !== "1") return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}
for (const touch of ["pointerdown", "keydown", "change"]) addEventListener(touch, unlock, { passive: true });

// loud: interrupts what a screen reader is saying
export function speak(text, loud = false) {
  const region = byId(loud ? "alarm" : "speak");
  if (region.textContent === text) region.textContent = "";
  region.textContent = text;
}

// Said aloud, where wished, by the phone's or the television's own voice; what is new interrupts what is old.
export function utter(text) {
  if (wish("voice") !== "1" || !("speechSynthesis" in window)) return;
  speechSynthesis.cancel();
  const said = new SpeechSynthesisUtterance(text);
  said.lang = region;
  speechSynthesis.speak(said);
}

const TUNES = { illegal: [[220, 0.12], [165, 0.22]], question: [[523, 0.1], [659, 0.14]], turn: [[523, 0.09], [784, 0.14]], moved: [[659, 0.06]] };
const BUZZES = { illegal: [120, 60, 120], question: [60], turn: [40, 40, 40], moved: [] };

export function notice(kind) {
  if (wish("buzz") === "1" && BUZZES[kind]?.length) navigator.vibrate?.(BUZZES[kind]);
  if (wish("sound") !== "1" || !TUNES[kind]) return;
  audio ??= new AudioContext();
  let at = audio.currentTime + 0.02;
  for (const [pitch, length] of TUNES[kind]) {
    const tone = audio.createOscillator(), volume = audio.createGain();
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.15, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
    at += length;
  }
}
