// @ts-check
// What there is to keep and to share of a game, below its chart.

import { chronicle } from "./after.js";
import { legend, lines, plot } from "./chart.js";
import { byId, fill, h } from "./dom.js";
import { deciding } from "./people.js";
import { keep, summaryPicture } from "./picture.js";
import { say, words } from "./words.js";

export function showSummary(snapshot) {
  const box = byId("summary"), plotted = lines(snapshot);
  box.hidden = snapshot.moves.length < 4 || !plotted.length || !plotted.some(({ values }) => values.some(v => v));
  if (box.hidden) return;
  fill(box.lastElementChild, [snapshot.moves.map(m => m.standing), snapshot.outcome, snapshot.you.host, snapshot.settings?.names], () => [
    deciding(snapshot) ? h("p", { class: "hint" }, deciding(snapshot)) : null,
    plot(plotted),
    legend(snapshot, plotted),
    snapshot.outcome || snapshot.you.host ? h("div", { class: "row" },
      h("a", { class: "button strong", href: "/api/record.html", download: "" }, say("As one page")),
      h("a", { class: "button", href: "/api/record.play", download: "" }, say("Move list (.play)")),
      h("a", { class: "button", href: "/api/record.json", download: "" }, "JSON"),
      h("a", { class: "button", href: "/api/record.journal", download: "" }, say("The whole game")),
      h("button", { type: "button", onclick: async () => keep(await picture(snapshot, plotted), "nilometer.png") }, say("Picture")),
      "canShare" in navigator ? h("button", { type: "button", onclick: () => share(snapshot, plotted) }, say("Share")) : null) : null,
    h("p", null, h("a", { class: "button", href: "/games" }, say("All games of this table"))),
  ]);
}

async function picture(snapshot, plotted) {
  return summaryPicture(snapshot, plotted, await chronicle(snapshot));
}

// Where the phone can hand a file on to another program; else the picture is kept as a file.
async function share(snapshot, plotted) {
  const file = new File([await picture(snapshot, plotted)], "nilometer.png", { type: "image/png" });
  if (navigator.canShare?.({ files: [file] })) await navigator.share({ files: [file], title: words(snapshot.title) }).catch(() => {});
  else keep(file, file.name);
}
