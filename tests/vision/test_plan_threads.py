"""Plans read by several threads at once, as the set-up page's four pictures have them read."""

import subprocess
import sys

import engine
from tests.conftest import TESTS

# Each process meets its types once: several, as the threads seldom meet half way.
TRIES = 6
AT_ONCE = """
import sys, threading
from calibration.copy import game_plan
sys.setswitchinterval(1e-6)
gate = threading.Barrier(8)
def read(game):
    gate.wait()
    game_plan(game)
threads = [threading.Thread(target=read, args=(g,)) for g in 2 * sys.argv[1:]]
for t in threads: t.start()
for t in threads: t.join()
"""


def test_threads_that_read_plans_first_at_once_do_not_crash():
    command = [sys.executable, "-c", AT_ONCE, *engine.games()]
    runs = [subprocess.run(command, cwd=TESTS.parent, capture_output=True) for _ in range(TRIES)]
    assert [r.returncode for r in runs] == [0] * TRIES, runs[-1].stderr.decode()
