"""python -m devtools.soak: prints its figures; exits with 1 if the state was wrong or something was
lost."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import msgspec

import engine
from companion.simulate.demo_copy import default_game
from devtools.soak.world import World


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m devtools.soak",
        description="Simulated hours at a table where everything goes wrong.",
    )
    parser.add_argument("game", nargs="?", default="", choices=["", *engine.games()])
    parser.add_argument("--hours", type=float, default=2.0, help="simulated ones")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        figures = World(
            args.game or default_game(),
            Path(folder),
            args.hours,
            args.seed,
            lambda line: print(line, file=sys.stderr),
        ).run()
    print(json.dumps(msgspec.to_builtins(figures), indent=1))
    return 0 if figures.holds else 1


if __name__ == "__main__":
    sys.exit(main())
