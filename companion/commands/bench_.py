"""nilometer bench: the figures of DESIGN 9 on this machine, as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
import random
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import cv2
import msgspec
import numpy as np

import companion_web
import engine
from companion.commands.demo_ import default_game, demo_copy, state_dir
from companion.eye import Eye
from companion.journal import Journal
from companion.reconcile import reconcile
from companion.simulate import Conditions, Director, plan_of
from companion.table import Table
from companion_web import load
from vision.photo import load_photo


class Figure(msgspec.Struct, frozen=True):
    """One measured figure, beside what DESIGN 9 wants of it (None: nothing)."""

    what: str
    value: float
    unit: str
    wanted: float | None = None
    note: str = ""


def median_ms(work: Callable[[], object], runs: int) -> float:
    """Median of the wall time of `runs` calls, after one that does not count, ms"""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def fresh_ms(game: engine.Game, state: engine.State) -> float:
    """Legal actions of a state that has not been asked yet, ms: a state remembers its answer"""
    fresh = game.load(state.to_json())
    start = time.perf_counter()
    fresh.legal_actions()
    return 1000 * (time.perf_counter() - start)


def seeing(specimen, pictures: list[np.ndarray], runs: int) -> Iterator[Figure]:
    """Whole and partial readings, idle pictures, and the floor: a bare warp and difference of the same pictures"""
    reader = specimen.reader
    sites = len(reader.plan.site)
    order = iter([])

    def next_picture() -> np.ndarray:
        nonlocal order
        picture = next(order, None)
        if picture is None:
            order = iter(pictures)
            picture = next(order)
        return picture

    eye = Eye(reader)
    eye.single(pictures[0])
    size = (800, round(800 * reader.plan.size[1] / reader.plan.size[0]))
    frame = np.float32([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]])
    H = cv2.getPerspectiveTransform(eye.pose.to_px(reader.plan.corners).astype(np.float32), frame)
    before = cv2.warpPerspective(pictures[0], H, size)
    floor = median_ms(lambda: cv2.absdiff(cv2.warpPerspective(next_picture(), H, size), before).max(), runs)
    yield Figure("floor: bare warp and absolute difference", floor, "ms")
    yield Figure(f"board registered again ({eye.pose.by})",
                 median_ms(lambda: reader.registrar.locate(next_picture(), eye.pose), runs), "ms")
    yield Figure("board found without knowing where", median_ms(lambda: reader.registrar.locate(next_picture()), runs), "ms")
    whole = median_ms(lambda: reader.read(next_picture(), eye.pose), runs)
    yield Figure(f"a settled picture read whole, {sites} sites", whole, "ms", 40.0, f"{whole / max(floor, 1e-9):.1f} x the floor")
    few = set(sorted(s.id for s in reader.plan.site)[:4])
    yield Figure("the same when four sites changed", median_ms(lambda: reader.read(next_picture(), eye.pose, few), runs), "ms", 15.0)
    eye.watcher.settle(eye.pose, pictures[0])
    rng = np.random.default_rng(0)
    noisy = [cv2.add(pictures[0], rng.normal(0, 2, pictures[0].shape).astype(np.int8), dtype=cv2.CV_8U) for _ in range(6)]
    clock = iter(range(10**6))
    idle = median_ms(lambda: eye.watcher.see(noisy[next(clock) % 6], next(clock) / 5), runs * 2)
    yield Figure("an idle picture", idle, "ms", 4.0, f"{100 * idle * 5 / 1000:.1f} % of a core at 5 a second")


def concluding(specimen, pictures: list[np.ndarray], states, runs: int) -> Iterator[Figure]:
    """Reconcile, from evidence to verdict"""
    reads = {s.id: s.reads for s in specimen.rules_plan.sites.values()}
    game = engine.game(specimen.game)
    evidence = [specimen.reader.read(p) for p in pictures]
    times = []
    for before, seen in zip(states, evidence[1:]):
        start = time.perf_counter()
        reconcile(game, [(before, None)], seen, {}, reads)
        times.append(1000 * (time.perf_counter() - start))
    yield Figure("reconcile, evidence to verdict", statistics.median(times), "ms", 50.0, f"slowest {max(times):.0f} ms")


def rules(runs: int) -> Iterator[Figure]:
    """Legal actions and random play, each game"""
    for name, game in sorted(engine.games().items()):
        rng = random.Random(7)
        seats = [s.id for s in game.seats[: game.players[1]]]
        state = game.setup(seats)
        middle, actions, spent = [], 0, 0.0
        start = time.perf_counter()
        while time.perf_counter() - start < 1.5:
            began = time.perf_counter()
            legal = state.legal_actions()
            if legal:
                state = state.apply(rng.choice(legal))
                actions += 1
            else:
                state = game.setup(seats)
            spent += time.perf_counter() - began
            if actions % 40 == 20 and legal:
                middle.append(state)
        ms = statistics.median(fresh_ms(game, s) for s in middle[:30])
        wanted = (0.25, 5000.0) if name == default_game() else (None, None)
        yield Figure(f"{name}: all legal actions, mid-game", ms, "ms", wanted[0])
        yield Figure(f"{name}: random play", actions / spent, "actions/s", wanted[1])


def remembering(runs: int) -> Iterator[Figure]:
    """A journalled act, and the memory of this process with everything loaded"""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        game = engine.game(default_game())
        table = Table(game.setup([s.id for s in game.seats[:2]]), Journal(Path(folder) / "bench.journal"))
        rng = random.Random(3)
        times = []
        for _ in range(runs):
            act = str(rng.choice(table.state.legal_actions()))
            start = time.perf_counter()
            table.declare(act)
            times.append(1000 * (time.perf_counter() - start))
        yield Figure("an act into the journal, on disk", statistics.median(times), "ms")
    yield Figure("memory at the most, all of the above loaded", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", 250.0)


def phones(count: int) -> Iterator[Figure]:
    """A change on all phones, in the same process as the clients (so it shares its core with them)"""
    game = next(iter(engine.games().values()))
    table = Table(game.setup([s.id for s in game.seats[: game.players[0]]]))
    page = companion_web.Settings(name="bench", pin="12345678", streams_per_address=count + 8, max_streams=max(count, 1),
                                  reserved_streams=0)
    server = companion_web.serve(companion_web.create_app(table, page), "127.0.0.1", 0)
    try:
        found = load.measure(server.url, "12345678", count, 8)
    finally:
        server.stop()
    yield Figure(f"phones that follow, of {found.phones}", float(found.followed), "phones", float(count))
    yield Figure("a change on the last of them", found.change_median_ms, "ms", 300.0, f"worst {found.change_worst_ms:.0f} ms")
    yield Figure("an ordinary page meanwhile", found.page_median_ms, "ms", None, f"worst {found.page_worst_ms:.0f} ms")


def filmed(specimen, shots: int) -> tuple[list[np.ndarray], list]:
    """Pictures of a game in front of the simulated camera, and the state before each but the first"""
    from companion.players import Players

    game = engine.game(specimen.game)
    plan, _ = plan_of(specimen.game, None)
    state = game.setup([s.id for s in game.seats[:3]], (), specimen.rules_plan)
    director = Director(plan, layout=state.layout(), seed=5, view=Conditions().look(plan), sleep=lambda s: None)
    players, pictures, states = Players(5), [director.picture()], []
    for _ in range(shots):
        doing = players.next(state, lambda a, s=state: s.apply(a))
        if doing.action is None:
            break
        states.append(state)
        director.set(doing.layout)
        pictures.append(director.picture())
        state = doing.after
    return pictures, states


@click.command()
@click.option("--copy", type=click.Path(), help="a calibrated copy with test photos; else the demo's simulated one")
@click.option("--runs", default=15, show_default=True, help="runs of each")
@click.option("--phones", "count", default=100, show_default=True, help="phones that follow at once; 0 leaves this out")
@click.option("--json", "as_json", is_flag=True)
def command(copy: str | None, runs: int, count: int, as_json: bool) -> int:
    """How fast everything is on this machine, one thread."""
    cv2.setNumThreads(1)
    from companion.copies import open_copy

    name = default_game()
    specimen = open_copy(copy) if copy else demo_copy(name, state_dir() / "demo" / name)
    pictures, states = filmed(specimen, 5) if specimen.game in engine.games() and not copy else ([], [])
    if copy:
        pictures = [load_photo(p) for p in sorted(Path(copy).glob("test/*.jpg"))[:6]]
    figures: list[Figure] = []
    parts: list[Iterator[Figure]] = [seeing(specimen, pictures, runs)]
    if states:
        parts.append(concluding(specimen, pictures, states, runs))
    parts += [rules(runs), remembering(runs)] + ([phones(count)] if count else [])
    machine = {"machine": platform.node(), "processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version(),
               "opencv": cv2.__version__, "picture": f"{pictures[0].shape[1]} x {pictures[0].shape[0]}", "copy": specimen.name}
    if not as_json:
        click.echo(", ".join(f"{k} {v}" for k, v in machine.items()))
    for part in parts:
        for f in part:
            figures.append(f)
            if not as_json:
                wanted = f"  (wanted {f.wanted:g})" if f.wanted is not None else ""
                click.echo(f"{f.value:10.2f} {f.unit:10s} {f.what}{wanted}{'; ' + f.note if f.note else ''}")
    if as_json:
        click.echo(json.dumps({**machine, "figures": [msgspec.to_builtins(f) for f in figures]}, ensure_ascii=False))
    return 0


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
