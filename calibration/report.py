"""The calibration report: one self-contained page with pictures of what this copy's reader
confuses."""

from __future__ import annotations

import base64
import importlib.resources
import json

import cv2
import jinja2
import markupsafe
import msgspec
import numpy as np

from calibration.copy import Copy
from calibration.trial import Row, Trial
from engine.layout import lies_first
from engine.text import Text, pack_text, say
from vision.geometry.posed_photo import Shot

CROP = 96  # pixels along the longer side of a picture in the report
WORST = 12  # crops shown
# least number of pieces on synthetic boards for a meaningful share, and the share of correct
# readings below which one more photo is asked for: such boards are more cluttered than real ones
ENOUGH_ASKED, OFTEN_RIGHT = 10, 0.8


class Findings(msgspec.Struct, frozen=True):
    """What calibrating found out. trial: sites of synthetic boards not used in training; own: all
    photos, which it was trained on; error_px: (photo, pixels) of locating the board; missing: kinds
    in no photo; burnt: photos whose pieces are mostly overexposed; odd: what to look at before
    anything else."""

    trial: Trial
    own: Trial
    error_px: list[tuple[str, float]]
    missing: list[str]
    burnt: list[str] = []
    odd: list[Text] = []

    @property
    def sentence(self) -> Text:
        """The report in one sentence with its figures"""
        px = max((e for _, e in self.error_px), default=0.0)
        return say(
            "{right} of {all} places are read right in its photos, {unseen} % on boards made up of "
            "them; the board is found to {px} px.",
            right=self.own.right,
            all=len(self.own.rows),
            unseen=f"{100 * self.trial.right / max(len(self.trial.rows), 1):.1f}",
            px=f"{px:.1f}",
        )

    def doubtful(self) -> list[str]:
        """The kinds that are misread in the photos, or often on synthetic boards, the worst
        first"""
        own = {k: right / n for k, (n, right, _) in self.own.kinds().items() if right < n}
        trial = {
            k: right / n
            for k, (n, right, _) in self.trial.kinds().items()
            if n >= ENOUGH_ASKED and right < OFTEN_RIGHT * n
        }
        kinds = {k: min(own.get(k, 1.0), trial.get(k, 1.0)) for k in (*own, *trial) if k}
        return sorted(kinds, key=kinds.__getitem__)

    def advice(self) -> list[Text]:
        """What one more photo would improve, the most serious first"""
        kinds = self.doubtful()
        out = [*self.odd, *(unshown_advice(k) for k in self.missing)]
        # overexposure matters only if something is misread: white stones are white
        if self.burnt and kinds:
            out.append(
                say(
                    "in {photos} pieces are burnt out white, and what is on them cannot "
                    "be learnt: take them anew in less light",
                    photos=", ".join(self.burnt),
                )
            )
        out += [
            say(
                "this camera cannot tell {a} from {b}: {share} % of what it is given "
                "goes to the other",
                a=a,
                b=b,
                share=f"{100 * p:.0f}",
            )
            for a, b, p in self.own.alike()
        ]
        if kinds:
            out.append(
                say(
                    "lay these in one more photo, each a few times and on other sites: {kinds}",
                    kinds=", ".join(kinds),
                )
            )
        return out


def unshown_advice(kind: str) -> Text:
    """What the report says of a kind that no photo shows."""
    return say("no photo shows {kind}: it will not be read", kind=kind)


def picture_uri(image: np.ndarray) -> str:
    """A data URI of (h, w, 3) BGR"""
    scale = CROP / max(image.shape[:2])
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=way)
    done, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode() if done else ""


def site_picture(shot: Shot, copy: Copy, site: str) -> str:
    """A site as a photo shows it, with the board's upper edge at the top"""
    o = np.array(copy.plan.sites[site].outline, float)
    low, high = o.min(0), o.max(0)
    edge = 0.1 * (high - low).max()
    size = high - low + 2 * edge
    scale = CROP / size.max()
    (x0, y0), (x1, y1) = low - edge, high + edge
    x, y = shot.pose.rectify_map(x0, y0, x1, y1, scale)
    return picture_uri(cv2.remap(shot.image, x, y, cv2.INTER_LINEAR))


def contents_words(contents: tuple[str, ...] | None) -> Text | str:
    """Contents in words; None is something that is not a piece."""
    return say("something else") if contents is None else ", ".join(contents) or say("empty")


def marked_html(text: Text | str) -> str:
    """HTML with the sentence's template in it, so that the table's page can translate it for the
    reader"""
    if not isinstance(text, Text):
        return markupsafe.escape(text)
    return markupsafe.Markup('<span data-say="{}">{}</span>').format(
        json.dumps(pack_text(text)), str(text)
    )


def example_of(kind: str, shots: list[Shot], copy: Copy) -> str:
    """A picture of a kind, lying alone if possible"""
    places = [
        (len(c), n, site)
        for n, s in enumerate(shots)
        for site, c in s.layout.items()
        if kind in c and (c[-1] == kind or lies_first(c[0]))
    ]
    return site_picture(shots[min(places)[1]], copy, min(places)[2]) if places else ""


def worst_rows(trial: Trial) -> list[Row]:
    """The misread rows, then the correct ones with most doubt"""
    doubtful = sorted(trial.rows, key=lambda r: (r.right, r.chance))
    return [r for r in doubtful if not r.right or r.chance < 0.9][:WORST]


def percent_words(sure: float) -> str:
    """A probability in per cent, never 100, which people take for certainty"""
    return f"{100 * sure:.0f}" if sure < 0.99 else f"{min(100 * sure, 99.9):.1f}"


def report_page(copy: Copy, shots: list[Shot], findings: Findings) -> str:
    """The report as HTML"""
    trial, by_name = findings.trial, {s.name: s for s in shots}
    worst_first = sorted(trial.kinds().items(), key=lambda k: (k[1][1] / k[1][0], k[0]))
    kinds = [
        {
            "name": kind or say("empty"),
            "picture": example_of(kind, shots, copy) if kind else "",
            "asked": asked,
            "right": right,
            "taken": [
                (say("something else") if k == "?" else k or say("nothing"), n)
                for k, n in taken.most_common()
            ],
        }
        for kind, (asked, right, taken) in worst_first
    ]
    crops = [
        {
            "picture": site_picture(by_name[r.photo], copy, r.site),
            "where": f"{r.site}, {r.photo}",
            "want": contents_words(r.want),
            "got": contents_words(r.got),
            "right": r.right,
            "sure": percent_words(r.sure),
        }
        for r in worst_rows(findings.own)
    ]
    page = importlib.resources.files("calibration") / "page.html"
    env = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=marked_html
    )
    env.globals["say"] = say
    return env.from_string(page.read_text(encoding="utf-8")).render(
        name=copy.name,
        game=copy.game,
        findings=findings,
        advice=findings.advice(),
        kinds=kinds,
        crops=crops,
        reliability=trial.reliability(),
    )
