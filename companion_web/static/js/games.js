// @ts-check
// All games of this table: who won how often, and every game that was played to its end.

import { byId, h } from "./dom.js";
import { footer, keepPages } from "./footer.js";
import { parts } from "./people.js";
import { dataTable } from "./players.js";
import { ask } from "./talk.js";
import { duration, region, learn, say, words } from "./words.js";

const who = (name, seat) => name ? `${name} (${words(seat)})` : words(seat);
const sum = score => parts(score).map(([name, n]) => name === "total" ? n : `${n} ${say(name)}`).join(", ");

function players(all) {
  const games = [...new Set(all.map(p => p.game))];
  return games.map(game => {
    const own = all.filter(p => p.game === game);
    return dataTable({ title: words(own[0].title), columns: [say("player"), say("games"), say("won"), say("points on average"), say("best")],
      rows: own.map(p => [p.name ?? words(p.seat), p.played, p.won, p.mean, p.best]) });
  });
}

// The play as the app BG Stats takes it up; nothing is sent before somebody taps.
function statistics(game) {
  const play = { sourceName: "Nilometer", sourcePlayId: game.file, playDate: new Date(1000 * game.began).toISOString().slice(0, 19).replace("T", " "),
    durationMin: Math.round((game.ended - game.began) / 60), game: { name: words(game.title), sourceGameId: game.game, highestWins: true, noPoints: false },
    players: game.seats.map((seat, i) => ({ name: game.names[seat.id] || words(seat.name), sourcePlayerId: game.names[seat.id] || seat.id, role: words(seat.name),
      startPlayer: i === 0, score: String(game.points[seat.id]), winner: game.winners.includes(seat.id) })) };
  return `https://app.bgstatsapp.com/createPlay.html?data=${encodeURIComponent(JSON.stringify(play))}`;
}

function one(game) {
  const day = new Date(1000 * game.ended).toLocaleDateString(region, { weekday: "short", day: "numeric", month: "long", year: "numeric" });
  const winners = game.seats.filter(s => game.winners.includes(s.id)).map(s => who(game.names[s.id], s.name)).join(", ");
  return h("li", null, h("h3", null, `${day} · ${words(game.title)}`),
    h("p", null, say("Winner: {names}", { names: winners || "–" }), " · ", say("{n} moves in {time}", { n: game.moves, time: duration(game.ended - game.began) })),
    h("ul", null, game.seats.map(s => h("li", null, `${who(game.names[s.id], s.name)}: ${sum(game.scores[s.id])}`))),
    h("p", null, h("a", { class: "button", href: game.file ? `/games/${encodeURIComponent(game.file.replace(/\.journal$/, ""))}.html` : "/api/record.html", download: "" }, say("As one page")), " ",
      h("a", { class: "button", href: statistics(game), rel: "noreferrer", title: say("Into the app BG Stats on this phone") }, "BG Stats")));
}

footer();
await learn();
try {
  const found = await ask("/api/games");
  byId("who").replaceChildren(...(found.players.length ? players(found.players) : [h("p", { class: "hint" }, say("No finished game has been kept here yet."))]));
  byId("list").replaceChildren(found.games.length ? h("p", null, h("a", { class: "button", href: "/api/games.csv", download: "" }, say("As a table (CSV)"))) : "", h("ul", { class: "played" }, found.games.map(one)));
} catch (e) {
  byId("list").replaceChildren(h("p", { class: "fault" }, e.message));
}
document.body.dataset.ready = "1";
keepPages();
