"""How accurate the reader is on photos it was not fitted on: sites, boards, calibration of its
probabilities, confusions, times."""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from calibration.copy import BadCopy, Layout, load_copy, read_layout
from calibration.fit import shots_of
from calibration.training.fit import fit_reader
from calibration.trial import BINS, reliability_of
from engine.layout import same_contents
from vision.evidence.site_evidence import Evidence, NoBoard
from vision.plan import Plan
from vision.storage.photo_file import BadPhoto, load_photo

PHOTOS = {".jpg", ".jpeg", ".png"}
SOMETHING_ELSE = "something else"  # read if none of the known kinds seems to lie there


class Wrong(msgspec.Struct, frozen=True):
    """A misread site: what lies there and what was read, in words"""

    photo: str
    site: str
    is_: str = msgspec.field(name="is")
    read: str

    def __str__(self) -> str:
        return f"{self.photo} {self.site}: {self.is_} read as {self.read}"


class Accuracy(msgspec.Struct):
    """One copy's figures. reliability: for each of BINS but the last: (sites given such a
    probability, right among them); calibration_error: the expected calibration error over BINS
    (Naeini et al. 2015), 0 to 1; confusions: ("is", "read") -> how often, as a list; faults: photos
    that could not be read."""

    copy: str
    game: str
    photos: int = 0
    sites: int = 0
    right: int = 0
    boards: int = 0
    fit_s: float = 0.0
    ms: float = 0.0
    reliability: list[tuple[int, int]] = []
    confusions: list[tuple[str, str, int]] = []
    faults: list[str] = []
    calibration_error: float = 0.0
    wrong: list[Wrong] = []

    @property
    def share(self) -> float:
        """The share of sites that were read correctly, 0 to 1."""
        return self.right / self.sites if self.sites else 0.0


class Last(msgspec.Struct):
    """The part of a copy's figures that is kept for the next run; boards: correct and all, as
    "9/14". Figures that earlier versions did not keep are None."""

    share: float
    boards: str
    ms: float = 0.0
    fit_s: float | None = None
    calibration_error: float | None = None
    wrong: list[Wrong] | None = None

    @classmethod
    def of(cls, a: Accuracy) -> Last:
        """The part of a measurement that is kept for the next run."""
        return cls(a.share, f"{a.boards}/{a.photos}", a.ms, a.fit_s, a.calibration_error, a.wrong)


LASTS = msgspec.json.Decoder(dict[str, Last])


def copies_in(folder: Path) -> Iterator[Path]:
    """All copies with test photos among the folder itself and those below it"""
    for path in [folder, *sorted(p for p in folder.rglob("*") if p.is_dir())]:
        if (path / "copy.toml").is_file() and (path / "test").is_dir():
            yield path


def measure_copy(folder: Path, tell: Callable[[str], object] = lambda line: None) -> Accuracy:
    """Fits the copy in memory (nothing is written) and reads its test photos. Raises BadCopy."""
    copy = load_copy(folder)
    tests = test_photos(folder, copy.plan)
    out = Accuracy(copy.name or folder.name, copy.game)
    start = time.monotonic()
    registrar, shots = shots_of(copy)
    reader = fit_reader(copy.plan, registrar, shots)[0]
    out.fit_s = time.monotonic() - start
    judged: list[tuple[float, bool]] = []
    times = []
    for photo, truth in tests:
        out.photos += 1
        try:
            image = load_photo(photo)
            began = time.perf_counter()
            evidence = reader.read(image)
            times.append(1000 * (time.perf_counter() - began))
        except (NoBoard, BadPhoto) as e:
            out.faults.append(f"{photo.name}: {e}")
            out.sites += sum(not s.optional for s in copy.plan.site)
            continue
        wrong = compare_reading(out, photo.name, evidence, truth, copy.plan, judged)
        out.boards += not wrong
        out.wrong += wrong
        tell(f"  {photo.name}: {len(wrong)} wrong")
    out.ms = statistics.median(times) if times else 0.0
    out.reliability, out.calibration_error = reliability_of(judged)
    out.confusions = [
        (a, b, n) for (a, b), n in Counter((w.is_, w.read) for w in out.wrong).most_common(12)
    ]
    return out


def compare_reading(
    out: Accuracy,
    photo: str,
    evidence: Evidence,
    truth: Layout,
    plan: Plan,
    judged: list[tuple[float, bool]],
) -> list[Wrong]:
    """Counts a photo's sites in `out`, appends (probability given, right) of each to `judged`;
    returns the wrong ones"""
    wrong = []
    read = evidence.layout()
    for site in plan.site:
        if site.optional:
            continue
        want, got, seen = truth.get(site.id, ()), read.get(site.id, ()), evidence.sites.get(site.id)
        foreign = seen is not None and seen.foreign  # on an empty site too: it would stop a game
        ok = same_contents(want, got, site.reads) and not foreign
        out.sites += 1
        out.right += ok
        if not ok:
            lies, read_as = (" ".join(contents) or "empty" for contents in (want, got))
            read_as = SOMETHING_ELSE if foreign else read_as
            wrong.append(Wrong(photo, site.id, lies, read_as))
        if seen is not None and seen.options:
            judged.append((math.exp(max(seen.options[0][1], seen.other)), ok))
    return wrong


def test_photos(folder: Path, plan: Plan) -> list[tuple[Path, Layout]]:
    """The photos of a copy's test folder with what lies on each. Raises BadCopy, before anything is
    fitted."""
    photos = sorted(p for p in (folder / "test").iterdir() if p.suffix.lower() in PHOTOS)
    if not photos:
        raise BadCopy(f"{folder / 'test'}: no photo in it")
    return [(p, read_layout(p.with_suffix(".json"), plan)) for p in photos]


def kept_figures(path: Path) -> dict[str, Last]:
    """The figures of earlier runs, by folder; {} if the file is missing or damaged"""
    try:
        return LASTS.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return {}


def figures_table(a: Accuracy, before: Last | None) -> list[str]:
    """One copy's figures as lines, next to those of the last run"""
    last, fitted, error = "", None, None
    if before is not None:
        last = f" (last {100 * before.share:.3f} %, {before.boards}, {before.ms:.0f} ms)"
        fitted = before.fit_s
        if before.calibration_error is not None:
            error = 100 * before.calibration_error
    out = [
        f"{a.copy} ({a.game}): sites {a.right}/{a.sites} {100 * a.share:.3f} %, boards exact "
        f"{a.boards}/{a.photos}{last}; fitted in {a.fit_s:.0f} s"
        f"{_last_figure(fitted, '.0f', 's')}, {a.ms:.0f} ms a photo",
        f"  what is given is {100 * a.calibration_error:.2f} % from what is right"
        f"{_last_figure(error, '.2f', '%')}",
    ]
    out += reliability_lines(a.reliability)
    out += [f"  {n} x {is_} read as {read}" for is_, read, n in a.confusions]
    if before is not None and before.wrong is not None:
        then, now = {(w.photo, w.site) for w in before.wrong}, {(w.photo, w.site) for w in a.wrong}
        since = [w for w in a.wrong if (w.photo, w.site) not in then]
        again = [w for w in before.wrong if (w.photo, w.site) not in now]
        out += _list_first_wrong("wrong since the last run", since)
        out += _list_first_wrong("right again", again)
    return out + [f"  {fault}" for fault in a.faults]


def _last_figure(figure: float | None, form: str, unit: str) -> str:
    return "" if figure is None else f" (last {figure:{form}} {unit})"


def _list_first_wrong(title: str, wrong: Sequence[Wrong]) -> list[str]:
    more = [f"  {title}: and {len(wrong) - 12} more"] if len(wrong) > 12 else []
    return [f"  {title}: {w}" for w in wrong[:12]] + more


def reliability_lines(reliability: Sequence[Sequence[int]]) -> list[str]:
    """Lines that say how often readings of each probability are right; reliability: as in
    Accuracy"""
    return [
        f"  given {100 * low:5.1f} to {100 * min(high, 1):5.1f} %: {n:6d} sites, "
        f"{100 * k / n:6.2f} % right"
        for (low, high), (n, k) in zip(zip(BINS, BINS[1:]), reliability)
        if n
    ]


def joint_reliability(copies: Sequence[Accuracy]) -> list[tuple[int, int]]:
    """The reliability over several copies"""
    return [
        (sum(a.reliability[i][0] for a in copies), sum(a.reliability[i][1] for a in copies))
        for i in range(len(BINS) - 1)
    ]
