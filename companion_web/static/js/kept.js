// @ts-check
// A game kept as one page, opened without the table: the end, the points, and every move to step through.

import { Board } from "./board.js";
import { byId, h } from "./dom.js";
import { deciding, gained, nameOf, parts, personOf, points, seatTag } from "./people.js";
import { legend, lines, plot } from "./chart.js";
import { duration, namePlaces, region, say, sentence, teach, words } from "./words.js";

const game = JSON.parse(byId("game").textContent), moves = game.moves;
teach(game.language.texts);
namePlaces(Object.keys(game.plan.sites));

const day = seconds => new Date(1000 * seconds).toLocaleDateString(region, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
byId("title").textContent = [words(game.title), game.table.name].filter(Boolean).join(" · ");
byId("when").textContent = [game.began && day(game.began), say("{n} moves in {time}", { n: moves.filter(m => m.text).length, time: duration(game.ended - game.began) })].filter(Boolean).join(" · ");

function end() {
  const out = game.outcome, plotted = lines(game);
  return [out ? h("p", { class: "winner" }, h("b", null, say("Winner: {names}", { names: out.winners.map(id => nameOf(game, id)).join(", ") })), " ", sentence(words(out.reason))) : null,
    h("ul", { class: "figures" }, game.seats.map(seat => h("li", null, seatTag(game, seat.id), personOf(game, seat.id) ? ` ${personOf(game, seat.id)}` : "", ": ", h("b", null, String(game.standing[seat.id] ?? "")), " ",
      parts(game.scores[seat.id]).filter(([name]) => name !== "total").map(([name, n]) => [points(name, n), " "])))),
    deciding(game) ? h("p", { class: "hint" }, deciding(game)) : null,
    plotted.some(({ values }) => values.some(v => v)) ? [plot(plotted), legend(game, plotted)] : null].flat().filter(Boolean);
}

const board = new Board(game.plan);
const at = byId("at", HTMLInputElement);
let shown = -1, layout = {};

// The board after the first `n` moves: forwards move by move, backwards from the start on.
function go(n) {
  n = Math.max(0, Math.min(moves.length, n));
  if (n < shown || shown < 0) { shown = 0; layout = { ...game.layout }; }
  while (shown < n) layout = { ...layout, ...moves[shown++].sites };
  board.show(layout);
  const move = moves[n - 1];
  board.mark(move ? Object.keys(move.sites).map(site => ({ site, kind: "new" })) : []);
  const told = !move ? say("The beginning") : move.words.length ? move.words.map(words).join("; ") : move.text ? move.text : say("Corrected by hand once.");
  byId("told").replaceChildren(h("b", null, `${n} / ${moves.length} `), sentence(told));
  byId("points").replaceChildren(...(move ? gained(moves[n - 2]?.scores ?? game.opening, move.scores) : []).map(([seat, name, by]) => h("li", null, seatTag(game, seat), " ", points(name, by, true))));
  at.value = String(n);
  byId("before", HTMLButtonElement).disabled = n === 0;
  byId("next", HTMLButtonElement).disabled = n === moves.length;
  const picture = move && game.pictures[move.event];
  byId("seen").hidden = !picture;
  if (picture) byId("seen", HTMLImageElement).src = picture;
}

byId("end").replaceChildren(...end().filter(part => part !== null));
byId("board").replaceChildren(board.svg);
at.max = String(moves.length);
at.addEventListener("input", () => go(Number(at.value)));
byId("before").addEventListener("click", () => go(shown - 1));
byId("next").addEventListener("click", () => go(shown + 1));
go(moves.length);
document.body.dataset.ready = "1";
