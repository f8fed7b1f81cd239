"""The figures of docs/contracts.md, measured here: how long each stage of reading, reconciling,
playing and serving takes."""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import cv2
import msgspec
import numpy as np

import companion_web
import engine
from calibration.accuracy import PHOTOS
from calibration.copy import read_layout
from companion.explain.reconcile import Context, Reconciliation
from companion.runtime.copies import Specimen, open_copy
from companion.runtime.eye import Eye
from companion.runtime.machine import limit_heaps, reading_threads
from companion.simulate import Conditions, Director, plan_of
from companion.table.journal import Journal
from companion.table.table import Table
from devtools import load
from engine.layout import same_contents
from vision.evidence.piece_counts import apply_piece_counts
from vision.evidence.site_evidence import FLOOR, Evidence, Registration, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.motion.watcher import Watcher
from vision.plan import Plan, Site
from vision.storage.photo_file import load_photo

MOST = 6  # the most test photos of a copy that are read
AT_A_TIME = 40  # actions of random play between two looks at the clock
# How many times longer their cores take than the development machine's (AMD EPYC, 2025); estimated,
# see docs/bench.md
PIS = {"Pi 4": (5, 8), "Pi 5": (2, 3)}

Layout = dict[str, tuple[str, ...]]


class Figure(msgspec.Struct, frozen=True):
    """One measured figure, beside the target of docs/contracts.md (None: there is none). cpu: CPU
    time in ms behind a measured time; on a busy machine the two differ. waits: whether it is spent
    waiting for a disk or a clock rather than computing."""

    what: str
    value: float
    unit: str
    wanted: float | None = None
    note: str = ""
    cpu: float | None = None
    waits: bool = False


def cost_of(figure: Figure) -> float:
    """The CPU time in ms."""
    assert figure.cpu is not None
    return figure.cpu


def estimated_on_pi(figure: Figure) -> dict[str, tuple[float, float]]:
    """Pi model -> (best, worst) estimate; {} if the figure does not depend on the processor."""
    if figure.waits or figure.unit not in ("ms", "actions/s"):
        return {}
    value = figure.value if figure.cpu is None else figure.cpu
    longer = figure.unit == "ms"
    return {
        name: (value * least, value * most) if longer else (value / least, value / most)
        for name, (least, most) in PIS.items()
    }


def time_works(
    what: str,
    work: Callable[[], object] | Sequence[Callable[[], object]],
    runs: int,
    wanted: float | None = None,
    before: Sequence[Callable[[], object]] = (),
) -> Figure:
    """Medians of the times of `runs` calls, interleaved between several works; each is first called
    once, untimed. before: called, untimed, before each call."""
    works = work if isinstance(work, Sequence) else [work]
    times, spent = [], []
    for one, first in zip(works, before or [lambda: None] * len(works)):
        first()
        one()
        for _ in range(max(runs // len(works), 1)):
            first()
            start, began = time.perf_counter(), time.process_time()
            one()
            times.append(1000 * (time.perf_counter() - start))
            spent.append(1000 * (time.process_time() - began))
    return Figure(what, statistics.median(times), "ms", wanted, cpu=statistics.median(spent))


def fresh_ms(game: engine.Game, state: engine.State) -> float:
    """The time in ms to compute the legal actions of a fresh state, since a state caches them."""
    fresh = game.load(state.to_json())
    start = time.perf_counter()
    fresh.legal_actions()
    return 1000 * (time.perf_counter() - start)


class Scene(msgspec.Struct, frozen=True, eq=False):
    """A picture of the board and what lies on it, as far as that is known; before: the state before
    the last action, if the table plays by the rules."""

    picture: np.ndarray
    layout: Layout | None = None
    before: engine.State | None = None


def photographed_scenes(folder: Path, plan: Plan) -> list[Scene]:
    """A copy's test photos. Raises BadPhoto, BadCopy."""
    scenes = []
    for path in sorted(p for p in folder.glob("test/*") if p.suffix.lower() in PHOTOS)[:MOST]:
        known = path.with_suffix(".json")
        layout = read_layout(known, plan) if known.is_file() else None
        scenes.append(Scene(load_photo(path), layout))
    return scenes


def filmed_scenes(specimen: Specimen, shots: int) -> list[Scene]:
    """The beginning of a game in front of the simulated camera."""
    from companion.simulate.players import Players

    game = engine.game(specimen.game)
    plan, _ = plan_of(specimen.game, None)
    state = game.setup([s.id for s in game.seats[:3]], (), specimen.rules_plan)
    director = Director(
        plan, layout=state.layout(), seed=5, view=Conditions().look(plan), sleep=lambda s: None
    )
    players, scenes = Players(5), [Scene(director.picture(), state.layout())]
    for _ in range(shots):
        turn = players.next(state)
        if turn.action is None:
            break
        for act in turn.said:
            state = state.apply(act)
        director.set(turn.layout)
        scenes.append(Scene(director.picture(), turn.layout, state))
        state = turn.after
    return scenes


def reading_figures(specimen: Specimen, scenes: Sequence[Scene], runs: int) -> Iterator[Figure]:
    """Whole and partial readings and their stages, and the floor: a mere warp and difference of the
    same pictures.

    They are read as `run` reads a table that has come to rest: the previous pose is known and found
    to hold, and the camera has been in place for a while, so that whatever depends on the pose
    alone is cached.
    """
    reader = specimen.reader
    size = (800, round(800 * reader.plan.size[1] / reader.plan.size[0]))
    frame = np.array([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]], np.float32)
    poses = [reader.locate(scenes[0].picture)]
    for s in scenes[1:]:
        poses.append(reader.locate(s.picture, poses[-1]))
    H = cv2.getPerspectiveTransform(poses[0].to_px(reader.plan.corners).astype(np.float32), frame)
    before = cv2.warpPerspective(scenes[0].picture, H, size)

    turn, rng = iter(range(10**9)), np.random.default_rng(0)

    def each(
        what: str, work: Callable[[np.ndarray, Pose], object], wanted: float | None = None
    ) -> Figure:
        return time_works(
            what,
            [partial(work, s.picture, p) for s, p in zip(scenes, poses)],
            max(runs, len(scenes)),
            wanted,
        )

    floor = each(
        "floor: bare warp and absolute difference",
        lambda picture, pose: cv2.absdiff(cv2.warpPerspective(picture, H, size), before).max(),
    )
    yield floor
    yield each("board found without knowing where", lambda picture, pose: reader.locate(picture))
    yield each(f"stage: registration checked ({poses[0].by})", reader.locate)
    yield each("stage: all sites by the network", reader.learned.read)
    found = [reader.read_sites(s.picture, p) for s, p in zip(scenes, poses)]
    yield time_works(
        "stage: held to the box's counts",
        lambda: apply_piece_counts(reader.plan, found[next(turn) % len(found)]),
        runs,
    )
    whole = each(f"a settled picture read whole, {len(reader.plan.site)} sites", reader.read, 60.0)
    yield msgspec.structs.replace(
        whole, note=f"{cost_of(whole) / max(cost_of(floor), 1e-9):.1f} x the floor"
    )
    few = sorted(s.id for s in reader.plan.site)[:4]
    yield each(
        "four sites, nothing known of before",
        lambda picture, pose: reader.read(picture, pose, set(few)),
    )
    noise = [rng.normal(0, 2, scenes[0].picture.shape).astype(np.int8) for _ in range(6)]
    caches, others = (
        [FrameCache() for _ in scenes],
        [*zip(scenes[1:], poses[1:]), (scenes[0], poses[0])],
    )
    again, four = (
        [cv2.add(picture, noise[0], dtype=cv2.CV_8U) for picture in some]
        for some in (
            [s.picture for s in scenes],
            [
                with_others(s.picture, p, o.picture, q, [reader.plan.sites[i] for i in few])
                for s, p, (o, q) in zip(scenes, poses, others)
            ],
        )
    )

    def after(
        what: str,
        pictures: Sequence[np.ndarray],
        sites: set[str] | None,
        wanted: float | None = None,
    ) -> Figure:
        """Readings of the scenes right after whole readings of other pictures of the same board."""

        def before(picture: np.ndarray, pose: Pose, cache: FrameCache) -> None:
            cache.forget()
            reader.read(picture, pose, None, cache)

        return time_works(
            what,
            [
                partial(reader.read, s.picture, p, sites, m)
                for s, p, m in zip(scenes, poses, caches)
            ],
            max(runs, len(scenes)),
            wanted,
            [partial(before, *one) for one in zip(pictures, poses, caches)],
        )

    yield after("the same when four sites changed", four, set(few), 15.0)
    yield after("a settled picture looked at again", again, None)
    watcher = Watcher(reader.plan)
    watcher.settle(poses[0], scenes[0].picture)
    noisy = [cv2.add(scenes[0].picture, n, dtype=cv2.CV_8U) for n in noise]

    def idle() -> None:
        n = next(turn)
        watcher.see(noisy[n % len(noisy)], n / 5)

    seen = time_works("an idle picture", idle, runs * 2, 4.0)
    yield msgspec.structs.replace(
        seen, note=f"{cost_of(seen) * 5 / 10:.1f} % of a core at 5 a second"
    )


def with_others(
    picture: np.ndarray, pose: Pose, other: np.ndarray, there: Pose, sites: Sequence[Site]
) -> np.ndarray:
    """A picture that on some sites shows what another picture shows there, in which the board lies
    as `there` says."""
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(
        mask, [np.rint(pose.to_px(o)).astype(np.int32) for s in sites for o in s.outlines], 1
    )
    y, x = np.nonzero(mask)
    px = there.to_px(pose.to_mm(np.stack([x, y], -1).astype(float))).astype(np.float32)
    out, wide = picture.copy(), 1024  # no more rows or columns than OpenCV accepts
    px = np.vstack([px, np.zeros((-len(px) % wide, 2), np.float32)]).reshape(-1, wide, 2)
    shown = cv2.remap(  # type: ignore[call-overload]
        other, px, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    out[y, x] = shown.reshape(-1, 3)[: len(y)]
    return out


def accuracy_figures(specimen: Specimen, scenes: Sequence[Scene]) -> Iterator[Figure]:
    """How accurate the reader is on pictures whose contents are known."""
    known = [(s.picture, s.layout) for s in scenes if s.layout is not None]
    sites = [s for s in specimen.reader.plan.site if not s.optional]
    wrong = []
    for picture, layout in known:
        read = specimen.reader.read(picture).layout()
        wrong.append(
            sum(
                not same_contents(tuple(layout.get(p.id, ())), read.get(p.id, ()), p.reads)
                for p in sites
            )
        )
    if known:
        share = 100 * (1 - sum(wrong) / (len(known) * len(sites)))
        yield Figure(f"sites read right, of {len(known)} pictures", share, "%", 99.9)
        yield Figure("whole boards exact", 100 * sum(not n for n in wrong) / len(known), "%", 95.0)


def reconcile_figures(specimen: Specimen, scenes: Sequence[Scene]) -> Iterator[Figure]:
    """Reconciling, from evidence to verdict. Nobody knows the game in a copy's photos, so there
    boards are taken as read."""
    reads = {s.id: s.reads for s in specimen.rules_plan.sites.values()}
    game = engine.game(specimen.game)
    played = [s for s in scenes if s.before is not None]
    times, agreed = [], 0
    for s in played or [s for s in filmed_scenes(specimen, 5) if s.before is not None]:
        assert s.before is not None
        seen = specimen.reader.read(s.picture) if played else as_read(s.layout or {}, specimen)
        start = time.perf_counter()
        context = Context(game=game, past=[(s.before, None)], reads=reads)
        verdict = Reconciliation(context, seen).verdict()
        times.append(1000 * (time.perf_counter() - start))
        agreed += verdict.state.layout() == s.layout
    if times:
        yield Figure(
            "reconcile, evidence to verdict",
            statistics.median(times),
            "ms",
            50.0,
            f"slowest {max(times):.0f} ms",
        )
        yield Figure(
            "states right after reconcile",
            100 * agreed / len(times),
            "%",
            100.0,
            f"{len(times)} actions",
        )


def as_read(layout: Layout, specimen: Specimen) -> Evidence:
    """The evidence of a board read without any doubt."""
    sites = {
        s.id: SiteEvidence(((tuple(layout.get(s.id, ())), 0.0),), FLOOR)
        for s in specimen.reader.plan.site
    }
    return Evidence(sites, Registration("markers", 0.3))


def rules_figures(demo_game: str, runs: int) -> Iterator[Figure]:
    """Legal actions and random play, for each game a tenth of a second a run; the demo's has the
    higher targets. Random play is measured in CPU time, so that a busy machine gives nearly the
    same figure."""
    for name, game in sorted(engine.games().items()):
        rng = random.Random(7)
        seats = [s.id for s in game.seats[: game.players[1]]]
        state = game.setup(seats)
        middle, actions, spent = [], 0, 0.0
        start = time.perf_counter()
        while time.perf_counter() - start < 0.1 * runs:
            began = time.process_time()
            for _ in range(AT_A_TIME):
                legal = state.legal_actions()
                if legal:
                    state = state.apply(rng.choice(legal))
                    actions += 1
                else:
                    state = game.setup(seats)
            spent += time.process_time() - began
            middle.append(state)
        ms = statistics.median(fresh_ms(game, s) for s in middle[:30])
        wanted = (0.25, 20000.0) if name == demo_game else (None, 8000.0)
        yield Figure(f"{name}: all legal actions, mid-game", ms, "ms", wanted[0])
        yield Figure(f"{name}: random play", actions / spent, "actions/s", wanted[1])


def journal_figures(name: str, runs: int) -> Iterator[Figure]:
    """One action into the journal."""
    with tempfile.TemporaryDirectory() as folder:
        game = engine.game(name)
        table = Table(
            game.setup([s.id for s in game.seats[:2]]), Journal(Path(folder) / "bench.journal")
        )
        rng = random.Random(3)
        times = []
        for _ in range(runs):
            act = str(rng.choice(table.state.legal_actions()))
            start = time.perf_counter()
            table.declare(act)
            times.append(1000 * (time.perf_counter() - start))
        yield Figure("an act into the journal, on disk", statistics.median(times), "ms", waits=True)


def memory_figures(specimen: Specimen) -> Iterator[Figure]:
    """The memory of a process that has loaded what `run` loads and read a picture a few times:
    between two readings, and its peak."""
    ended = subprocess.run(
        [sys.executable, "-m", "devtools.bench", str(specimen.folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    rest, most = map(float, ended.stdout.split())
    yield Figure("memory of a table, between readings", rest, "MB", 200.0)
    yield Figure("memory while it reads a whole picture", most, "MB")


def served_memory(folder: Path) -> tuple[float, float]:
    """Reads as `run` does, in this process. Returns (MB once the memory needed only while reading
    has been released, peak MB)."""
    limit_heaps()
    cv2.setNumThreads(reading_threads())
    specimen = open_copy(folder)
    picture = load_photo(next(p for p in sorted(folder.iterdir()) if p.suffix.lower() in PHOTOS))
    game = (
        engine.game(specimen.game)
        if specimen.game in engine.games()
        else next(iter(engine.games().values()))
    )
    table = Table(game.setup([s.id for s in game.seats[: game.players[0]]]), Journal())
    server = companion_web.serve_app(
        companion_web.create_app(table, companion_web.Settings(pin="12345678")), "127.0.0.1", 0
    )
    try:
        eye = Eye(specimen.reader)
        for n in range(6):
            eye.stream(picture, n / 5)
        eye.single(picture)
        specimen.reader.give_back()
    finally:
        server.stop()
    return memory_mb("VmRSS"), memory_mb("VmHWM")


def memory_mb(name: str) -> float:
    """Of this process, MB: VmRSS, its memory now, or VmHWM, its peak. Falls back to getrusage(),
    whose peak may include that of the parent process."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.is_file() else ():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def phone_figures(count: int) -> Iterator[Figure]:
    """A change on all phones, in the same process as the clients (which therefore share its
    core)."""
    game = next(iter(engine.games().values()))
    table = Table(game.setup([s.id for s in game.seats[: game.players[0]]]))
    page = companion_web.Settings(
        name="bench",
        pin="12345678",
        streams_per_address=count + 8,
        max_streams=max(count, 1),
        reserved_streams=0,
    )
    server = companion_web.serve_app(companion_web.create_app(table, page), "127.0.0.1", 0)
    try:
        found = load.measure_load(server.url, "12345678", count, 8)
    finally:
        server.stop()
    yield Figure(
        f"phones that follow, of {found.phones}", float(found.followed), "phones", float(count)
    )
    yield Figure(
        "a change on the last of them",
        found.change_median_ms,
        "ms",
        300.0,
        f"worst {found.change_worst_ms:.0f} ms",
        waits=True,
    )
    yield Figure(
        "an ordinary page meanwhile",
        found.page_median_ms,
        "ms",
        None,
        f"worst {found.page_worst_ms:.0f} ms",
        waits=True,
    )


if __name__ == "__main__":
    print(*served_memory(Path(sys.argv[1])))
