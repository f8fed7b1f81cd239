"""Whole games in front of the simulated camera, read by the real reader: a season whose evidence comes from pictures.

    python -m tests.companion.filmed GAME [--copy FOLDER] [--seed N] [--doings N]        # make whole GAME=...

plays from the set-up to the final score, as people do: several doings between two looks, consequences done late, corrections,
things against the rules, hands, pieces pushed by sleeves, and kill -9 in the middle. Exit 1 when anything was concluded wrongly.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import engine
from companion.copies import open_copy
from companion.eye import Eye
from companion.journal import Journal
from companion.simulate import Conditions, Director, plan_of
from companion.table import Table
from tests.companion.season import Season


class Camera:
    """Gives evidence of layouts by filming them; stands in a Season where a made-up Reader does."""

    def __init__(self, specimen, conditions=None, seed=0, sleeves=0.3):
        plan, _ = plan_of(specimen.game, None)
        conditions = conditions or Conditions()
        self.director = Director(plan, seed=seed, conditions=conditions, sleep=lambda s: None)
        self.eye, self.rng, self.sleeves = Eye(specimen.reader), random.Random(seed), sleeves
        self.misreads = set()
        self.faults = []                     # sites read as something else than lay there, all looks together
        self.lies = {}

    def read(self, layout, foreign=(), busy=None):
        self.director.set(layout)
        self.lies = {s: tuple(c) for s, c in layout.items() if c}
        if busy:
            return self._with_hand()
        if self.lies and self.rng.random() < self.sleeves:
            self._nudge()
        evidence = self.eye.single(self.director.picture())
        self.faults += [(s, self.lies.get(s, ()), e.best) for s, e in evidence.sites.items() if not self._right(s, e)]
        return evidence

    def _with_hand(self):
        size = self.eye.reader.plan.size
        self.director.put("hand", (size[0] / 2, size[1] / 2))
        evidence = self.eye.single(self.director.picture())
        self.director.clear()
        return evidence

    def _nudge(self):
        self.director.nudge(self.rng.choice(sorted(self.lies)), (self.rng.uniform(-2, 2), self.rng.uniform(-2, 2)),
                            self.rng.uniform(-5, 5))

    def _right(self, site, e):
        return not e.foreign and e.logp(self.lies.get(site, ()), self.eye.reader.plan.sites[site].reads) >= e.options[0][1] - 0.01


class Filmed(Season):
    """A season with a journal on disk; now and then the table is killed while it concludes."""

    with_hands = ("busy", "unclear")           # an arm of the table's colour is something foreign that lies there

    def __init__(self, specimen, folder, seed=0, kills=0.05, **kw):
        self.path, self.kills, self.killed = Path(folder) / "game.journal", kills, 0
        super().__init__(specimen.game, seed=seed, plan=specimen.rules_plan, reader=Camera(specimen, seed=seed),
                         journal=Journal(self.path), **kw)

    def look(self, board, what, **kw):
        if self.rng.random() < self.kills:
            self._kill(board)
        return super().look(board, what, **kw)

    def _kill(self, board):
        """A table in a process of its own sees the board and is killed at any moment; another goes on from its journal."""
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


def main(arguments=None):
    parser = argparse.ArgumentParser(description="a whole game in front of the simulated camera")
    parser.add_argument("game", choices=sorted(engine.games()))
    parser.add_argument("--copy", help="a calibrated simulated copy; without it the demo's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--doings", type=int, default=10_000)
    parser.add_argument("--seats", type=int, default=3)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args(arguments)
    from companion.commands.demo_ import demo_copy, state_dir

    specimen = open_copy(args.copy) if args.copy else demo_copy(args.game, state_dir() / "demo" / args.game)
    with tempfile.TemporaryDirectory() as folder:
        season = Filmed(specimen, folder, args.seed, between=2, seats=args.seats, verbose=args.verbose).play(args.doings)
    outcome = season.table.state.outcome()
    for name in ("wrong", "overlooked", "misnamed", "alarms", "unclear", "todos"):
        for line in getattr(season, name):
            print(f"{name}: {line}")
    print(f"{args.game}: {season.report()}; {season.killed} times killed; {len(season.reader.faults)} sites misread; "
          + (f"won by {', '.join(outcome.winners)}" if outcome else "not played to the end"))
    return 1 if season.wrong or season.overlooked or season.alarms or (outcome is None and season.doings < args.doings) else 0


if __name__ == "__main__":
    sys.exit(main())
