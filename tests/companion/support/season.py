"""Whole games without a camera: made-up players, evidence as a good or a tired reader would give
it, and a count of what the table got wrong."""

import random
import time
from collections import Counter

import engine
from companion.simulate.players import Players, true_answer, wrong_doing
from companion.table.journal import GUESS
from companion.table.table import Refused, Table
from engine.layout import lies_between, same_contents
from tests.companion.support.tired import Reader

SAID = ("commit", "war", "pass", "done", "keep", "trade", "treasure", "joker", "spend", "fist")


class Season:
    """One game. `play` makes doings and looks; the attributes are the count."""

    with_hands = ("busy",)  # what may be said while a hand is in view

    def __init__(
        self,
        name,
        seats=3,
        seed=0,
        unsure=0.0,
        misread=0.0,
        between=3,
        mischief=0.15,
        late=0.4,
        correct=0.1,
        verbose=False,
        plan=None,
        state=None,
        reader=None,
        journal=None,
    ):
        game = engine.game(name)
        self.rng = random.Random(seed)
        state = laid_out(
            state or game.setup([s.id for s in game.seats[:seats]], (), plan), self.rng
        )
        self.table = Table(state, journal, plan)
        self.reader = reader or Reader(self.table.plan, random.Random(seed + 7), unsure, misread)
        self.players = Players(seed)
        self.between, self.mischief, self.late, self.correct, self.verbose = (
            between,
            mischief,
            late,
            correct,
            verbose,
        )
        self.truth, self.accept = state, [state]
        self.history = []  # (state before, the doing's action), newest last
        self.board = self.lying = dict(state.layout())
        self.looks = self.doings = self.caught = self.corrected = 0
        self.wrong, self.overlooked, self.misnamed, self.alarms, self.unclear, self.todos = (
            [],
            [],
            [],
            [],
            [],
            [],
        )
        self.asked, self.fair = [], False
        self.ms = []

    # Looking

    def look(self, board, what, **kw):
        self.lying = board
        evidence = self.reader.read(board, **kw)
        start = time.thread_time()
        verdict = self.table.look(evidence, whole=getattr(self.reader, "whole", None))
        self.ms.append((time.thread_time() - start) * 1000)
        self.looks += 1
        if self.verbose:
            print(
                f"  look {self.looks} [{what}] -> {verdict.verdict} "
                f"{[str(a) for a in verdict.actions]} undo {verdict.undo} "
                f"{[v.rule for v in verdict.violations]} todo "
                f"{[str(t.text) for t in verdict.todo]} "
                f"{verdict.question and [str(a.text) for a in verdict.question.answers]} "
                f"{self.ms[-1]:.0f} ms"
            )
        return verdict

    def note(self, where, words):
        where.append(f"look {self.looks}: {words}")
        if self.verbose:
            print("   ****", words)

    def agrees(self):
        got = self.table.state
        return any(
            not changed(s, got) and got.scores() == s.scores() and got.turn == s.turn
            for s in self.accept
        )

    def guesses(self):
        """Whether what differs is only guessed, as something covers it: the page says so, and a
        later look decides."""
        got = self.table.state
        return (
            self.table.lines[-1].by == GUESS
            and all(
                got.layout().get(s, ())[-1:] == self.lying.get(s, ())[-1:] for s in self.behind()
            )
            and any(got.scores() == s.scores() and got.turn == s.turn for s in self.accept)
        )

    def expect(self, verdict, what, late=False):
        """After a look at a legal board: the states agree, nobody was accused, nobody asked without
        need."""
        if verdict.verdict == "illegal":
            self.note(
                self.alarms,
                f"{what}: {[str(v.rule) for v in verdict.violations]} "
                f"{[str(t) for t in verdict.back]} "
                f"misread {sorted(self.reader.misreads)}",
            )
            self._answer(verdict)  # nobody did that: it was misread
        if verdict.verdict == "unclear" or self.is_asked_about(verdict):
            answers = [str(a.text) for a in verdict.question.answers] if verdict.question else None
            self.note(
                self.asked if self.fair or self.reader.misreads else self.unclear,
                f"{what}: {verdict.text} {answers}",
            )
            return self._answer(verdict)
        if verdict.verdict != "busy" and not self.agrees():
            if self.reader.misreads:  # the next look must mend it
                return False
            if late and (self.table.state.decision() is not None or not self.behind()):
                return False  # what cannot be seen yet is waited for; another doing looks just so
            if self.guesses():
                return True
            self.note(
                self.wrong,
                f"{what}: {verdict.verdict} {[str(a) for a in verdict.actions]} {self.differs()}",
            )
            return False
        return True

    def is_asked_about(self, verdict):
        """Whether what was done is told beside a question about all that the state lacks."""
        asked = verdict.question
        told = verdict.verdict in ("moved", "unfinished") and asked is not None
        return told and bool(self.behind()) and self.behind() <= set(asked.sites)

    def differs(self):
        got, want = self.table.state, self.accept[0]
        a, b = got.layout(), want.layout()
        out = {s: (a.get(s), b.get(s)) for s in set(a) | set(b) if a.get(s, ()) != b.get(s, ())}
        return f"turn {got.turn}/{want.turn} scores {got.scores()}/{want.scores()} layout {out}"[
            :400
        ]

    def behind(self):
        """Where the board lies otherwise than the table's state has it"""
        now, same = self.table.state.layout(), self.table.state.shows_same
        return {
            s
            for s in set(now) | set(self.lying)
            if not same(s, now.get(s, ()), self.lying.get(s, ()), self.table.reads[s])
        }

    def _answer(self, verdict):
        """The people know what they did: the answer that leads there."""
        if verdict.question is None:
            return False
        reads, asked = self.table.reads, self.table.question_id
        try:
            choice = true_answer(
                self.table,
                lambda state: any(
                    (state.layout(), state.scores(), state.turn) == (s.layout(), s.scores(), s.turn)
                    for s in self.accept
                ),
            )
        except (engine.IllegalAction, engine.BadText) as e:
            self.note(self.wrong, f"an answer that cannot be: {e}")
            return False
        if choice is None:  # whoever looks at the board sees what was misread
            choice = next(
                (
                    i
                    for i, a in enumerate(verdict.question.answers)
                    if a.misread
                    and all(
                        not same_contents(self.lying.get(s, ()), c, reads[s])
                        for s, c in verdict.question.seen.items()
                    )
                ),
                None,
            )
        if choice is None:
            return False
        self.table.answer(asked, choice)
        return self.agrees()

    def sync(self):
        """Goes on from the truth whatever was concluded."""
        if not self.agrees():
            if self.verbose:
                print("   ---- edit to the truth")
            self.table.edit(self.accept[0])
        self.truth = (
            self.accept[0]
            if self.table.state.key() not in {s.key() for s in self.accept}
            else self.table.state
        )
        self.truth = self.table.state
        self.accept = [self.truth]
        self.board = dict(self.truth.layout())

    # Playing

    def play(self, doings):
        self.expect(self.look(self.board, "start"), "start")
        while self.doings < doings and self.table.state.outcome() is None:
            if self.rng.random() < self.mischief:
                self.misbehave()
            if not self.group():
                break
            if self.history and self.rng.random() < self.correct:
                self.change_mind()
        return self

    def say(self, action):
        if self.verbose:
            print("  said", action)
        try:
            self.table.declare(str(action))
        except Refused as e:
            self.note(self.wrong, f"declaring {action} refused: {e}")
        return self.table.state

    def group(self):
        """One to `between` visible doings, then looks, the last doing's consequences perhaps done
        late."""
        wanted = self.rng.randint(1, self.between)
        state, first, words, seats, touched = self.truth, self.truth, [], set(), set()
        said = idle = 0
        while len(words) < wanted:
            action = self.players.choose(state)
            if said > 8:  # enough said for one turn
                action = next(
                    (a for a in state.legal_actions() if a.words() in ("pass", "done")), action
                )
            if action is None:
                break
            if action.words().startswith("fist"):  # nobody bids away half of what there is
                bids = [
                    a
                    for a in state.legal_actions()
                    if a.seat == action.seat and a.words().startswith("fist")
                ]
                action = self.rng.choice(bids[:4])
            after = state.apply(action)
            here = changed(state, after)
            # who can do something does not say that nothing can be done
            if here and action.words() == "pass":
                action = next((a for a in state.legal_actions() if a.words() != "pass"), action)
                after = state.apply(action)
                here = changed(state, after)
            if not here:
                if words:
                    break  # that is said after the look
                state = first = self.say(action)
                self.accept = [state]
                said = 0 if action.words() in ("pass", "done") else said + 1
                idle += 1
                if idle > 400:
                    break  # nobody can do anything any more
                self.sync()
                continue
            if here & touched:
                break  # nobody could tell the two from one
            touched |= here
            self.history.append((state, action))
            state = after
            words.append(str(action))
            seats.add(action.seat)
            self.doings += 1
        if not words:
            return False
        what = "; ".join(words)
        if self.verbose:
            print("DO", what)
        self.accept = [state]
        self.fair = len(seats) > 1  # who of several did which may be asked
        if self.rng.random() < 0.3:
            seen = self.look(first.layout(), "hands", busy="hand")
            if seen.verdict not in self.with_hands or seen.actions:
                self.note(
                    self.wrong,
                    f"a hand over {what}: {seen.verdict} {[str(a) for a in seen.actions]}",
                )
        if self.rng.random() < self.late:
            self.late_steps(self.history[-1][0], state, what)
        self.board = dict(state.layout())
        ok = self.expect(self.look(self.board, what), what)
        for _ in range(2):
            if self.reader.misreads or not ok:
                ok = False
                self.look(self.board, "again")
        if not ok and not self.agrees() and not self.guesses():
            self.note(self.wrong, f"{what}: not mended: {self.differs()}")
        v = self.table.verdict
        if v.verdict == "unfinished":
            self.note(
                self.todos,
                f"{what}: to-do left on a finished board: {[str(t.text) for t in v.todo]}",
            )
        self.sync()
        self.fair = False
        return True

    def late_steps(self, before, after, what):
        """The board as it is after the hands' own doing, then after each consequence."""
        board = dict(before.layout())
        shown = []
        for n, step in enumerate(after.steps):
            for s, c in step.changes.items():
                board[s] = tuple(c)
            more = [x for x in after.steps[n + 1 :] if x.changes]
            if not step.changes or (step.by_hand and more and more[0].by_hand):
                continue
            shown.append(dict(board))
        final = after.layout()
        # what ends a turn may be seen first
        passed = [before.apply(a) for a in before.legal_actions() if a.words() == "pass"]
        for now in shown[:-1]:
            self.accept = [after, *passed, *likewise(before, self.history[-1][1], now)]
            behind = {
                s
                for s in set(now) | set(final)
                if not same_contents(now.get(s, ()), final.get(s, ()), self.table.reads[s])
                and not (s in self.table.optional and not now.get(s))
            }
            if not behind or beyond_box(after.plan, now):
                continue
            for again in ("late", "still late"):
                v = self.look(now, f"{again} {what}")
                if not self.expect(v, f"{again} {what}", late=True):
                    break
                told = {s for t in v.todo for s in t.sites}
                if self.table.state.layout() != final:
                    continue
                if v.verdict == "unfinished" and not self.reader.misreads and told != behind:
                    self.note(
                        self.todos,
                        f"{again} {what}: to-dos {sorted(told)}, behind {sorted(behind)}",
                    )
                if v.verdict in ("same", "moved") and not self.reader.misreads:
                    self.note(
                        self.todos,
                        f"{again} {what}: {v.verdict}, though behind on {sorted(behind)}",
                    )
        self.accept = [after]

    def change_mind(self):
        """The last doing is taken back and another one, or none, done instead."""
        before, action = self.history[-1]
        done = after_last(self.history[-1])
        if (
            action.words().split()[0] in SAID
            or self.truth.key() != done.key()
            or self.table.lines[-1].action != str(action)
        ):
            return
        others = [
            a
            for a in before.legal_actions()
            if a.seat == action.seat
            and str(a) != str(action)
            and a.words().split()[0] == action.words().split()[0]
        ]
        self.rng.shuffle(others)
        for a in others[:20]:
            after = before.apply(a)
            if (
                changed(before, after)
                and changed(self.truth, after)
                and after.decision() is None
                and not self.plain(after)
            ):
                break
        else:
            return
        if self.verbose:
            print("CHANGE MIND", action, "->", a)
        self.corrected += 1
        what = f"correction {action} -> {a}"
        self.accept = [after]
        self.history[-1] = (before, a)
        ok = self.expect(self.look(after.layout(), what), what)
        if not ok:
            self.look(after.layout(), "again")
        self.sync()

    def plain(self, after):
        """Whether one more legal doing would make the same board: then it is no correction."""
        return any(not changed(self.truth.apply(a), after) for a in self.truth.legal_actions())

    def misbehave(self):
        """Something against the rules, the lamp, and back."""
        wrong = (
            wrong_doing(self.truth, self.rng)
            if self.rng.random() < 0.6
            else vanished(self.truth, self.rng, self.lately() | self.covered())
        )
        if wrong is None:
            return
        site, layout, rules = wrong
        rules = rules | self.rules_as_seen(site, layout)
        self.accept = [self.truth]
        what = f"wrong on {site} {layout.get(site)} {sorted(rules)}"
        v = self.look(layout, what)
        if v.verdict == "illegal":
            self.caught += 1
            if rules and not rules & {x.rule for x in v.violations}:
                self.note(self.misnamed, f"{what}: named {[x.rule for x in v.violations]}")
            if not v.back:
                self.note(self.misnamed, f"{what}: not said how to put it back")
        elif v.verdict == "unfinished" and not v.actions and any(site in t.sites for t in v.todo):
            self.caught += 1  # taken up: a legal doing would put it down again
        elif (
            v.verdict == "unclear" or site in str(v.text).split()
        ) and not self.table.state.key() != self.truth.key():
            self.note(self.asked if self.fair else self.unclear, f"{what}: {v.text}")
        else:
            self.note(
                self.overlooked,
                (
                    f"{what}: {v.verdict} {[str(a) for a in v.actions]} misread "
                    f"{sorted(self.reader.misreads)}"
                ),
            )
        if not self.reader.misreads and v.verdict != "illegal":
            self.sync()
        self.expect(self.look(self.truth.layout(), "put back"), "put back")
        if self.reader.misreads:
            self.look(self.truth.layout(), "put back again")
        self.sync()

    def lately(self):
        """Where something was done that may still be taken back"""
        lines = self.table.lines[-5:]
        return {s for a, b in zip(lines, lines[1:]) for s in changed(a.state, b.state)}

    def rules_as_seen(self, site, layout):
        """What else may be named where something against the rules looks like something else"""
        return set()

    def covered(self):
        """Where nobody could see that something is gone"""
        return set()

    def report(self):
        ms = sorted(self.ms)
        counts = {
            n: len(getattr(self, n))
            for n in ("wrong", "overlooked", "misnamed", "alarms", "unclear", "asked", "todos")
        }
        return (
            (
                f"{self.doings} doings, {self.looks} looks, {self.corrected} corrected, "
                f"{self.caught} caught; "
            )
            + ", ".join(f"{k} {v}" for k, v in counts.items())
            + (
                f"; ms median {ms[len(ms) // 2]:.0f} p95 {ms[len(ms) * 95 // 100]:.0f} worst "
                f"{ms[-1]:.0f}"
            )
        )


def laid_out(state, rng):
    """Past what comes out of the box before the first seat does anything."""
    while state.actors and not set(state.actors) & set(state.seats):
        state = state.apply(rng.choice(state.legal_actions()))
    return state


def beyond_box(plan, layout):
    """Whether a board shows more of a kind than there is: who has no stone left takes one off
    before laying it"""
    lying = Counter(kind for contents in layout.values() for kind in contents)
    return any(0 < plan.counts.get(kind, 0) < n for kind, n in lying.items())


def likewise(before, action, now):
    """The states after other doings of the same kind that a half-finished board may come from as
    well: what lies there is theirs, and what hands do in them is done"""
    had, out = before.layout(), []
    for other in before.legal_actions():
        if (
            other == action
            or other.seat != action.seat
            or other.words().split()[0] != action.words().split()[0]
        ):
            continue
        after = before.apply(other)
        hands = {s for step in after.steps if step.by_hand for s in step.changes}
        then = after.layout()
        if all(
            now.get(s, ()) == then.get(s, ())
            or s not in hands
            and lies_between(had.get(s, ()), now.get(s, ()), then.get(s, ()))
            for s in {*had, *then, *now}
        ):
            out.append(after)
    return out


def after_last(entry):
    before, action = entry
    return before.apply(action)


def changed(before, after):
    """The sites that look another way"""
    a, b = before.layout(), after.layout()
    sites = after.plan.sites
    return {
        s
        for s in set(a) | set(b)
        if not after.shows_same(s, a.get(s, ()), b.get(s, ()), sites[s].reads)
    }


def vanished(state, rng, lately=frozenset()):
    """A piece that nobody may take is gone."""
    layout = state.layout()
    for _ in range(20 if layout else 0):
        site = rng.choice(sorted(layout))
        if len(layout[site]) != 1 or site in lately or state.plan.sites[site].optional:
            continue
        kind = layout[site]
        if any(
            not p.violations and not any(illegal(state, p.actions))
            for p in state.explain({site: (kind, ())})
            if p.actions
        ):
            continue
        return site, {s: c for s, c in layout.items() if s != site}, set()
    return None


def illegal(state, actions):
    for a in actions:
        if state.check(a):
            yield True
            return
        state = state.apply(a)
