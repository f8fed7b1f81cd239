"""The attacker's list against running tables: python -m tests.attack [NAME ...] (make attack). Loopback only; ends by itself.

Each finding is one line, "held" or "WEAK"; exit code 1 when anything was weak.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack import crowds
from tests.attack.table import running

LIMIT_S = 600      # all of them together
Finding = tuple[str, bool]


def half_sent_from_one(folder: Path) -> Iterator[Finding]:
    with running(folder) as table:
        yield from crowds.half_sent(table, 1)


def half_sent_from_forty(folder: Path) -> Iterator[Finding]:
    with running(folder) as table:
        yield from crowds.half_sent(table, 40)


def unread_by_one(folder: Path) -> Iterator[Finding]:
    with running(folder) as table:
        yield from crowds.unread(table, 1)


def unread_by_forty(folder: Path) -> Iterator[Finding]:
    with running(folder) as table:
        yield from crowds.unread(table, 40)


def unread_streams(folder: Path) -> Iterator[Finding]:
    with running(folder) as table:
        yield from crowds.streams(table)


ATTACKS: dict[str, Callable[[Path], Iterator[Finding]]] = {
    f.__name__.replace("_", "-"): f for f in (half_sent_from_one, half_sent_from_forty, unread_by_one, unread_by_forty, unread_streams)}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(ATTACKS)}")
    names = parser.parse_args(argv).names or list(ATTACKS)
    weak = count = 0

    def too_long(*_: object) -> None:
        raise TimeoutError(f"longer than {LIMIT_S} s")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_S)
    for name in names:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            for words, held in ATTACKS[name](Path(folder)):
                print(f"{'held' if held else 'WEAK'}  {words}", flush=True)
                count, weak = count + 1, weak + (not held)
        print(f"      {name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"{count - weak} of {count} held")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
