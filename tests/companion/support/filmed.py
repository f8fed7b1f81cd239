"""Whole games in front of the simulated camera, read by the real reader: a season whose evidence
comes from pictures.

    python -m tests.companion.support.filmed FILE.play [--copy FOLDER] [--seed N] [--doings N]

(`make whole GAME=...`)

plays from the set-up to the final score, as people do: several doings between two looks,
consequences done late, corrections, things against the rules, hands, pieces pushed by sleeves, and
kill -9 in the middle. Exit 1 when anything was concluded wrongly.

    ... --keep FOLDER              of every look something was wrong with: the picture, what lay
                                   there, the journal before it
    ... --again FOLDER/look-0012   that look once more: what is read wrongly, which explanations
                                   are found, the verdict
    ... --from FOLDER/look-0012    goes on from there to the end
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import cv2

import engine
from companion.explain import reconcile
from companion.explain.ranking import unexplained_sites
from companion.runtime.beginning import scripted_state
from companion.runtime.copies import open_copy
from companion.runtime.eye import Eye
from companion.simulate import Conditions, Director
from companion.simulate.samples import spanned_sites
from companion.table.journal import Journal
from companion.table.table import Table
from engine import script
from tests.companion.support.season import Season
from vision.evidence.site_evidence import contents_match


class Camera:
    """Gives evidence of layouts by filming them; stands in a Season where a made-up Reader does."""

    def __init__(self, specimen, conditions=None, seed=0, sleeves=0.3):
        plan = specimen.reader.plan
        conditions = conditions or Conditions()
        self.director = Director(plan, seed=seed, conditions=conditions, sleep=lambda s: None)
        self.eye, self.rng, self.sleeves = Eye(specimen.reader), random.Random(seed), sleeves
        self.misreads = set()
        self.faults = []  # sites read as something else than lay there, all looks together
        self.lies = {}
        self.picture = None

    def read(self, layout, foreign=(), busy=None):
        self.director.set(layout)
        before, self.lies = self.lies, {s: tuple(c) for s, c in layout.items() if c}
        if busy:
            return self._with_hand()
        if self.lies and self.rng.random() < self.sleeves:
            self._nudge()
        self.picture = self.director.picture()
        evidence = self.eye.single(self.picture)
        if evidence.busy is None and self.lies == before:
            evidence = self.whole()  # as a stream that has shown nothing else for a while
        self.faults += [
            (s, self.lies.get(s, ()), e.best)
            for s, e in evidence.sites.items()
            if not self._right(s, e)
        ]
        return evidence

    def whole(self):
        """The last picture read afresh"""
        return self.eye.whole()

    def _with_hand(self):
        size = self.eye.reader.plan.size
        self.director.put("hand", (size[0] / 2, size[1] / 2))
        self.picture = self.director.picture()
        evidence = self.eye.single(self.picture)
        self.director.clear()
        return evidence

    def _nudge(self):
        self.director.nudge(
            self.rng.choice(sorted(self.lies)),
            (self.rng.uniform(-2, 2), self.rng.uniform(-2, 2)),
            self.rng.uniform(-5, 5),
        )

    def _right(self, site, e):
        return not e.foreign and contents_match(
            e.best, self.lies.get(site, ()), self.eye.reader.plan.sites[site].reads
        )


class Filmed(Season):
    """A season with a journal on disk; now and then the table is killed while it concludes."""

    # an arm of the table's colour is something foreign that lies there, if seen
    with_hands = "busy", "unclear", "same"

    def __init__(self, specimen, folder, seed=0, kills=0.05, keep=None, **kw):
        self.path, self.kills, self.killed = Path(folder) / "game.journal", kills, 0
        self.keep = Path(keep) if keep else None
        super().__init__(
            specimen.game,
            seed=seed,
            plan=specimen.rules_plan,
            reader=Camera(specimen, seed=seed),
            journal=Journal(self.path),
            **kw,
        )

    def look(self, board, what, **kw):
        if self.rng.random() < self.kills:
            self._kill(board)
        if self.keep:
            self._copy_journal(self.path.parent / "before")
        return super().look(board, what, **kw)

    def rules_as_seen(self, site, layout):
        """A piece on a spot of a cell looks as if it lay on the cell itself"""
        cell = self.truth.plan.sites[site].of
        if not cell or not layout.get(site):
            return set()
        before = self.truth.layout().get(cell, ())
        seen = self.truth.explain({cell: (before, (*before, *layout[site]))})
        checked = (p.violations or self.truth.check(p.actions[0]) for p in seen)
        return {v.rule for some in checked for v in some}

    def covered(self):
        """Where a piece stands on top that is listed on another site: a monument on four tiles"""
        plan = self.reader.eye.reader.plan
        return {
            s
            for site, contents in self.truth.layout().items()
            for kind in contents
            for s in spanned_sites(plan, plan.sites[site], kind)[1:]
        }

    def note(self, where, words):
        super().note(where, words)
        if self.keep and where is not self.asked:
            self._keep(words)

    def _keep(self, words):
        """What `--again` needs to look once more."""
        folder = self.keep / f"look-{self.looks:04d}"
        shutil.copytree(self.path.parent / "before", folder, dirs_exist_ok=True)
        cv2.imwrite(str(folder / "picture.png"), self.reader.picture)
        (folder / "lies.json").write_text(json.dumps(self.reader.lies))
        (folder / "truth.json").write_text(json.dumps(self.accept[0].to_json()))
        with (folder / "words.txt").open("a") as f:
            f.write(words + "\n")

    def _copy_journal(self, folder):
        folder.mkdir(exist_ok=True)
        for path in self.path.parent.glob("game.journal*"):
            shutil.copy(path, folder / path.name)

    def _kill(self, board):
        """A table in a process of its own sees the board and is killed at any moment; another goes
        on from its journal."""
        plan, evidence = self.table.plan, self.reader.read(board)
        self.table.journal.close()
        child = os.fork()
        if child == 0:
            try:
                Table(None, Journal(self.path), plan).look(evidence)
                time.sleep(60)
            finally:
                os._exit(0)
        time.sleep(self.rng.uniform(0.0, 0.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.table = Table(None, Journal(self.path), plan)
        self.killed += 1
        if self.verbose:
            print("  kill -9")


def again(specimen, folder):
    """One kept look once more, in words."""
    folder = Path(folder)
    lies = {s: tuple(c) for s, c in json.loads((folder / "lies.json").read_text()).items()}
    print((folder / "words.txt").read_text().strip())
    evidence = Eye(specimen.reader).single(cv2.imread(str(folder / "picture.png")))
    reads = {s.id: s.reads for s in specimen.rules_plan.sites.values()}
    for site, e in evidence.sites.items():
        if e.foreign or not contents_match(e.best, lies.get(site, ()), reads[site]):
            print(
                f"read wrongly: {site} {lies.get(site, ())} as "
                f"{[(c, round(p, 1)) for c, p in e.options[:3]]} other {e.other:.1f}"
            )
    search = reconcile.search_explanations

    def told(*a, **kw):
        worlds = search(*a, **kw)
        for w in worlds[:8]:
            print(
                f"{w.total:7.2f} back {w.undo} {[str(a) for a in w.actions]} "
                f"{[v.rule for v in w.violations]} "
                f"{sorted(w.hands)} left {unexplained_sites(w, a[2])}"
            )
        return worlds

    reconcile.search_explanations = told
    with tempfile.TemporaryDirectory() as name:
        for path in folder.glob("game.journal*"):
            shutil.copy(path, name)
        table = Table(None, Journal(Path(name) / "game.journal"), specimen.rules_plan)
        print("before:", [line.action for line in table.lines[-5:]], "turn", table.state.turn)
        v = table.look(evidence)
        table.journal.close()
    print(
        v.verdict,
        [str(a) for a in v.actions],
        "back",
        v.undo,
        [(x.rule, str(x.text)) for x in v.violations],
        [str(t.text) for t in v.todo],
        v.question and [str(a.text) for a in v.question.answers],
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description="a whole game in front of the simulated camera")
    parser.add_argument(
        "start",
        type=Path,
        help="a .play file: game, seats, options, perhaps a position (tests/companion/whole)",
    )
    parser.add_argument(
        "--copy", help="a calibrated simulated copy; without it one made as people make theirs"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--doings", type=int, default=10_000)
    parser.add_argument(
        "--keep", type=Path, help="keeps there every look that something was wrong with"
    )
    parser.add_argument("--again", type=Path, help="looks once more at what was kept there")
    parser.add_argument("--from", type=Path, dest="since", help="goes on from what was kept there")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args(arguments)
    from calibration.training.fit import LEARNING_STEPS
    from companion.simulate.demo_copy import demo_copy, state_dir

    name = script.parse_script(args.start.read_text(encoding="utf-8")).game
    specimen = (
        open_copy(args.copy)
        if args.copy
        else demo_copy(name, state_dir() / "whole" / name, LEARNING_STEPS)
    )
    state = scripted_state(args.start, specimen)
    if args.again:
        return again(specimen, args.again)
    if args.since:
        state = engine.game(name).load(
            json.loads((args.since / "truth.json").read_text()), specimen.rules_plan
        )
    with tempfile.TemporaryDirectory() as folder:
        season = Filmed(
            specimen,
            folder,
            args.seed,
            keep=args.keep,
            between=2,
            state=state,
            verbose=args.verbose,
        )
        season.play(args.doings)
    outcome = season.table.state.outcome()
    for name in ("wrong", "overlooked", "misnamed", "alarms", "unclear", "todos"):
        for line in getattr(season, name):
            print(f"{name}: {line}")
    print(
        (
            f"{args.start.stem}: {season.report()}; {season.killed} times killed; "
            f"{len(season.reader.faults)} sites misread; "
        )
        + (f"won by {', '.join(outcome.winners)}" if outcome else "not played to the end")
    )
    return (
        1
        if season.wrong
        or season.overlooked
        or season.alarms
        or (outcome is None and season.doings < args.doings)
        else 0
    )


if __name__ == "__main__":
    sys.exit(main())
