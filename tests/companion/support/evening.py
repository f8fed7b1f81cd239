"""Runs a file of tests/companion/evenings (see the README there): people's doings at a board, and
what the table makes of them."""

from pathlib import Path

from companion.runtime.eye import Eye
from companion.simulate import Director, plan_of
from companion.table.journal import Journal
from companion.table.table import Refused, Table
from engine import script
from tests.companion.support.made_evidence import acts, sees

FOLDER = Path(__file__).parent.parent / "evenings"


def without_empty(layout):
    """The same layout without its empty sites"""
    return {s: tuple(c) for s, c in layout.items() if c}


class Clear:
    """Evidence of a perfect reader."""

    waits = False

    def __init__(self, plan):
        self.plan, self.covered = plan, ()

    def read(self, board):
        shown = {
            s: ("?", "union") if c[-1:] == ("union",) and len(c) > 1 else c
            for s, c in board.items()
        }
        return sees(shown, self.plan, foreign=self.covered)

    def nudge(self, site, by):
        pass

    def cup(self, site):
        self.covered = (site,)

    def clear(self):
        self.covered = ()


class Filmed:
    """Evidence that the real reader finds in simulated pictures. waits: what it has never seen it
    may take for something else that lies there, and say nothing yet, where a perfect one is
    unclear."""

    waits = True

    def __init__(self, reader, conditions, seed=0):
        plan, _ = plan_of(reader.plan.game, None)
        self.director = Director(plan, seed=seed, conditions=conditions, sleep=lambda s: None)
        self.eye = Eye(reader)

    def read(self, board):
        self.director.set(board)
        return self.eye.single(self.director.picture())

    def nudge(self, site, by):
        self.director.nudge(site, by, 6.0)

    def cup(self, site):
        self.director.put("cup", self.eye.reader.plan.sites[site].centre)

    def clear(self):
        self.director.clear()


class Evening:
    """faults: what came out otherwise than the file says, as lines."""

    def __init__(self, path, camera, folder):
        start, _, doings = path.read_text(encoding="utf-8").partition("\n---\n")
        self.faults, self.name = [], path.name
        self.first = start.count("\n") + 3
        result = script.run_script(start)
        assert not result.faults, result.faults
        self.path, self.camera = folder / "game.journal", camera(result.state)
        self.table = Table(result.state, Journal(self.path))
        self.board = without_empty(result.state.layout())
        self.doings = doings
        self.verdict = None

    def run(self):
        for n, line in script.script_lines(self.doings):
            self.line, words = n + self.first - 1, line.split()
            what, rest = words[0], words[1:]
            if what == "?":
                fault = script.check_expectation(self.table.state, self.line, rest)
                if fault:
                    self.faults.append(f"{self.name}: {fault}")
            else:
                getattr(self, f"do_{what}")(rest)
        self.table.journal.close()
        return self.faults

    def expect(self, holds, wanted, found):
        if not holds:
            self.faults.append(f"{self.name}:{self.line}: expected {wanted}; found {found}")

    def do_put(self, words):
        site = None
        for word in words:
            if word in self.table.plan.sites:
                site = word
                self.board[site] = ()
            else:
                self.board[site] += (word,)
        self.board = without_empty(self.board)

    def do_tidy(self, words):
        self.board = without_empty(self.table.state.layout())

    def do_nudge(self, words):
        self.camera.nudge(words[0], (float(words[1]), float(words[2])))

    def do_cup(self, words):
        self.camera.cup(words[0])

    def do_clear(self, words):
        self.camera.clear()

    def do_kill(self, words):
        self.table.journal.close()
        self.table = Table(None, Journal(self.path))

    def do_say(self, words):
        try:
            self.verdict = self.table.declare(" ".join(words))
        except Refused as e:
            self.expect(False, "it may be said: " + " ".join(words), e)

    def do_answer(self, words):
        self.verdict = self.table.answer(f"q{self.table._asked}", int(words[0]) - 1)

    def do_look(self, words):
        v = self.verdict = self.table.look(self.camera.read(self.board))
        told = (
            f"{v.verdict} {acts(v)} undo {v.undo} {[x.rule for x in v.violations]} "
            f"{[str(t) for t in v.back]} "
            f"{[str(t.text) for t in v.todo]} "
            f"{v.question and [str(a.text) for a in v.question.answers]}"
        )
        verdicts, wanted = {words[0]}, words[1:]
        while wanted[:1] == ["or"]:
            verdicts.add(wanted[1])
            wanted = wanted[2:]
        waiting = "unclear" in verdicts and v.verdict == "same" and self.camera.waits
        self.expect(v.verdict in verdicts or waiting, " or ".join(sorted(verdicts)), told)
        if wanted == ["..."]:
            return
        if v.verdict == "illegal":
            self.expect(set(wanted) <= {x.rule for x in v.violations}, f"rules {wanted}", told)
        elif v.verdict in ("same", "moved", "unfinished"):
            news = [str(a) for a in v.news if str(a) in acts(v)]
            doings = [] if waiting else sorted(filter(None, " ".join(wanted).split("; ")))
            self.expect(
                doings in ([], sorted(news))
                if v.verdict == "unfinished"
                else doings == sorted(news),
                " ".join(wanted) or "no doing",
                told,
            )

    def do_todo(self, words):
        found = [(t.sites, str(t.text)) for t in self.verdict.todo]
        holds = (
            not found
            if not words
            else any(words[0] in sites and " ".join(words[1:]) in text for sites, text in found)
        )
        self.expect(holds, f"to-do {' '.join(words)}", found)

    def do_back(self, words):
        found = [str(t) for t in self.verdict.back]
        self.expect(
            any(all(w in text for w in words) for text in found), f"back: {' '.join(words)}", found
        )

    def do_asks(self, words):
        q = self.table.question
        found = q and (q.seat, str(q.text))
        if words == ["nobody"]:
            self.expect(q is None, "no question", found)
        else:
            self.expect(
                q is not None and (not words or q.seat == words[0]),
                "a question " + " ".join(words),
                found,
            )
