"""The attacker's list against running tables: python -m tests.attack [NAME ...] (make attack).
Loopback only; ends by itself.

Each finding is one line, "held" or "WEAK"; exit code 1 when anything was weak.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack import crowds, halls, machines, pages, people, proxies
from tests.attack.table import RunningTable, running

LIMIT_S = 600  # all of them together; on two quiet cores they take some 400
# 200 are better done alone, NAMES=kills
KILLS = int(os.environ.get("KILLS", "60"))
Finding = tuple[str, bool]


def on_a_table(
    attack: Callable[[RunningTable], Iterator[Finding]], more: str = ""
) -> Callable[[Path], Iterator[Finding]]:
    def run(folder: Path) -> Iterator[Finding]:
        with running(folder, more) as table:
            pid, before = table.pid, crowds.held_at_rest(table)
            yield from attack(table)
            # of those that end with the table that they began with
            if table.process is not None and table.pid == pid:
                yield crowds.held_again(table, before)

    return run


ATTACKS: dict[str, Callable[[Path], Iterator[Finding]]] = {
    "half-sent-from-one": on_a_table(lambda t: crowds.half_sent(t, "heads", 1)),
    "half-sent-from-forty": on_a_table(lambda t: crowds.half_sent(t, "heads", 40)),
    "half-sent-bodies": on_a_table(lambda t: crowds.half_sent(t, "bodies", 40)),
    "half-sent-tls": on_a_table(lambda t: crowds.half_sent(t, "handshakes", 40), 'tls = "auto"\n'),
    "unread-by-one": on_a_table(lambda t: crowds.unread(t, 1)),
    "unread-by-forty": on_a_table(lambda t: crowds.unread(t, 40)),
    "flooded": on_a_table(crowds.flood_requests),
    "unread-streams": on_a_table(crowds.streams),
    "for-other-seats": on_a_table(people.for_other_seats),
    "hasty": on_a_table(people.act_at_once),
    "wrong-pins": on_a_table(people.wrong_pins),
    "wrong-links": on_a_table(people.wrong_links),
    "rubbish": on_a_table(people.rubbish),
    "made-up-names": on_a_table(people.made_up_names),
    "crowd": on_a_table(people.crowd),
    "busy-crowd": on_a_table(people.busy_crowd),
    "cross-site": on_a_table(pages.cross_site),
    "odd-requests": on_a_table(pages.odd_requests),
    "hosts-things": on_a_table(pages.hosts_things),
    "secrets": on_a_table(pages.secrets),
    "taken-back": on_a_table(pages.taken_back),
    "too-many": on_a_table(pages.too_many),
    "over-tls": on_a_table(pages.over_tls, 'tls = "auto"\nredirect = true\n'),
    "by-a-proxy": on_a_table(proxies.spoofed, proxies.TRUSTED),
    "half-sent-by-a-proxy": on_a_table(proxies.half_sent, proxies.TRUSTED),
    "host-names": on_a_table(proxies.host_names, proxies.TRUSTED),
    "stopped-in-a-crowd": on_a_table(pages.stopped_in_a_crowd),
    "full-disk": on_a_table(machines.full_disk),
    "copied": on_a_table(machines.copied),
    "bad-starts": on_a_table(machines.bad_starts),
    "missing-model": on_a_table(machines.missing_model),
    "read-only": machines.read_only,
    "hung-camera": on_a_table(machines.hung_camera),
    "hall": halls.attacked_hall,
    "damage": on_a_table(people.damage),
    "kills": on_a_table(lambda t: people.kills(t, KILLS)),
}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(ATTACKS)}")
    names = parser.parse_args(argv).names or list(ATTACKS)
    weak = count = 0

    def too_long(*_: object) -> None:
        raise TimeoutError(f"longer than {LIMIT_S} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(max(LIMIT_S, 12 * KILLS if names == ["kills"] else 0))
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
