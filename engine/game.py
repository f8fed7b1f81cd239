"""The interface that all games share: State, Action, Violation, Step, Proposal, and the Game that
registers itself.

A State is a value: nothing changes it, and `apply` returns the next one. To undo, keep the previous
one.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec

from engine.layout import Contents, Layout, same_contents
from engine.notation import Syntax
from engine.plan import Plan
from engine.text import Text
from engine.tracing import Form, PlanFault


class BadText(ValueError):
    """Text that is not an action, set-up line or expectation of this game; the message says what is
    wrong."""


class Violation(msgspec.Struct, frozen=True):
    """A reason why an action is not legal: the rule's number in `rules.md` and a sentence."""

    rule: str
    text: Text


class IllegalAction(ValueError):
    """Raised by `apply`; carries every violation."""

    def __init__(self, action: Action, violations: Sequence[Violation]) -> None:
        self.action, self.violations = action, tuple(violations)
        super().__init__(f"{action}: " + "; ".join(f"{v.rule} {v.text}" for v in violations))


class Action(msgspec.Struct, frozen=True, gc=False):
    """Something a seat does. Each game has its own subclasses, whose `syntax` says how they are
    written."""

    seat: str

    syntax: ClassVar[Syntax]

    def words(self) -> str:
        """The action as people write it, without the seat."""
        return self.syntax.write(self)

    def without(self, part: Action) -> tuple[Action, ...] | None:
        """What is left of this action if that part of it was not done; None if it is not a part of
        it."""
        return () if part == self else None

    def asks(self) -> str | None:
        """The seat that has to agree before it is done (the other side of a trade); None if nobody
        has to."""
        return None

    def __str__(self) -> str:
        return f"{self.seat}: {self.words()}"


class Step(msgspec.Struct, frozen=True):
    """One thing that happens on the board in an action: first what people do themselves
    (`by_hand`), then what follows.

    `changes` is site -> contents after this step. `text` is the sentence for the to-do list ("take
    the green leader of Lion off J5"). A step that changes no site (points) has only a text.
    """

    text: Text
    changes: dict[str, Contents] = {}
    by_hand: bool = False

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that this step changes."""
        return tuple(self.changes)


class Todo(msgspec.Struct, frozen=True):
    """Something people still have to do on the board, and the sites it names. `seat`: who has to do
    it; None: anyone at the table."""

    text: Text
    sites: tuple[str, ...] = ()
    seat: str | None = None


class Proposal(msgspec.Struct, frozen=True):
    """A guess by `explain`: a run of actions, legal or not, that could have made the difference.

    `changes`: site -> contents as people's hands leave it, before anything that follows
    automatically; a legal run may leave it empty, since the state's own steps count. What no action
    can express (a tile taken off the board) has no actions, only `violations`.

    `cost`: how much less likely this is than a plain action, in nats. `belated`: the actions were
    done earlier, unseen; they are inserted at the latest moment at which they were legal, and
    everything since is replayed. `withdrawn`: actions that were only guessed and were in fact not
    done (see `Action.without`); everything since is replayed. `uncovered`: each withdrawn action
    laid something that was then hidden, and the action at the same index of `actions` was done
    instead. `certain`: False if the board cannot tell which actions it was, only their result.
    """

    actions: tuple[Action, ...] = ()
    changes: dict[str, Contents] = {}
    violations: tuple[Violation, ...] = ()
    cost: float = 0.0
    belated: bool = False
    withdrawn: tuple[Action, ...] = ()
    uncovered: bool = False
    certain: bool = True


class Choice(msgspec.Struct, frozen=True):
    """One answer to a decision: its words, the action's text, and optionally a kind to show as a
    picture."""

    text: Text
    action: str
    picture: str | None = None


class Decision(msgspec.Struct, frozen=True):
    """Something a seat has to say because the camera cannot see it (how many tiles to commit, an
    event's picture)."""

    seat: str
    text: Text
    choices: tuple[Choice, ...] = ()
    sites: tuple[str, ...] = ()
    # False: a later look at the board will tell, so nobody is asked; people may still say it
    ask: bool = True


class Outcome(msgspec.Struct, frozen=True):
    """The end: who won (several: they share) and why it ended."""

    winners: tuple[str, ...]
    reason: Text


Difference = Mapping[str, tuple[Contents, Contents]]
"""site -> (contents the state has, contents seen)"""


class State(abc.ABC):
    """The game as the rules know it. Compared and hashed by `key()`."""

    game: ClassVar[str]
    seats: tuple[str, ...]
    plan: Plan  # of the board in play
    # sites whose contents the rules neither know nor need
    unwatched: ClassVar[frozenset[str]] = frozenset()

    @property
    @abc.abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """What the action that led here did to the board; () for a set-up."""

    @property
    @abc.abstractmethod
    def turn(self) -> str | None:
        """Whose turn it is; None when the game is over."""

    @property
    @abc.abstractmethod
    def actors(self) -> tuple[str, ...]:
        """Who may act now: usually the seat whose turn it is; also a defender who has to commit, or
        a chance seat such as "bag"."""

    @abc.abstractmethod
    def legal_actions(self) -> list[Action]:
        """Every action that `check` accepts. In table mode: every action that the hidden hands
        could allow."""

    @abc.abstractmethod
    def check(self, action: Action) -> list[Violation]:
        """Every rule the action breaks; [] if it is legal."""

    @abc.abstractmethod
    def apply(self, action: Action) -> Self:
        """The state after the action and everything that follows from it. Raises IllegalAction."""

    @abc.abstractmethod
    def parse(self, text: str) -> Action:
        """`"bull: tile red C4"` -> Action. Raises BadText if it is not an action at all; whether it
        is legal is for `check`."""

    @abc.abstractmethod
    def layout(self) -> Layout:
        """What lies where, as far as the board shows it."""

    @abc.abstractmethod
    def scores(self) -> dict[str, Any]:
        """seat -> number, or seat -> {colour: number}"""

    def standing(self) -> dict[str, int]:
        """seat -> the one number that decides the game as things stand; a game overrides this if
        that is not the score itself."""
        return {s: v if isinstance(v, int) else sum(v.values()) for s, v in self.scores().items()}

    @abc.abstractmethod
    def outcome(self) -> Outcome | None:
        """Who has won and why the game ended; None while it is still going on."""

    @abc.abstractmethod
    def explain(self, difference: Difference) -> list[Proposal]:
        """A few dozen guesses at what was done, legal or not, likeliest first. A guess need not
        explain the whole difference: the reconciler continues from the state after it with whatever
        is left."""

    @abc.abstractmethod
    def view(self) -> dict[str, Any]:
        """Plain data for the page beyond the layout; docs/reference/engine.md describes its
        form."""

    @abc.abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON types; `Game.load` is the other way."""

    @abc.abstractmethod
    def to_text(self) -> str:
        """Set-up lines that `engine.script` reads back (docs/contracts.md, Notation; with extra
        lines for a moment inside an action)."""

    def decision(self) -> Decision | None:
        """What somebody has to say before the game can continue; None if the board alone can
        tell."""
        return None

    def todo(self) -> list[Todo]:
        """What the last action asks people to do on the board, and the decision that is pending."""
        out = [Todo(s.text, s.sites) for s in self.steps if not s.by_hand and s.changes]
        d = self.decision()
        if d is not None:
            out.append(Todo(d.text, d.sites, d.seat))
        return out

    def promising(self) -> list[Action]:
        """Legal actions that a sensible player would choose from, for simulated players; [] if the
        score is guidance enough."""
        return []

    def chance(self) -> list[tuple[Action, float]]:
        """At a chance node (open mode): the outcomes with their probabilities; otherwise []."""
        return []

    def skip_chance(self) -> Self:
        """The state with a pending chance node left unknown (nobody said what was drawn); self if
        none is pending."""
        return self

    def implied(self, action: Action) -> tuple[Action, ...]:
        """The passes, unspoken at a table, that make an action declared out of turn legal; () if
        there are none."""
        return ()

    def shows_same(self, site: str, have: Contents, seen: Contents, reads: str = "pile") -> bool:
        """Whether the rules treat these contents of a site as the same (a game may not care which
        side of a piece is up in a heap)."""
        return same_contents(have, seen, reads)

    def unsaid(self) -> Self:
        """The state with a pending offer (to build a monument, say) declined, as when people simply
        go on; self if none is pending. A decision that cannot be skipped is not an offer."""
        return self

    @property
    def readings(self) -> tuple[Self, ...]:
        """What else this state may be if something went without saying: an offer declined, or a
        player finished who had nothing left to do."""
        then = self.unsaid()
        return () if then is self else (then,)

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        """A game's own script expectation (`["bag", "14"]`): (whether it holds, what was found);
        None if this is not an expectation of the game."""
        return None

    def forget(self) -> None:
        """Lets go of what was worked out and can be again: a game keeps all its states, and asks
        few of them."""
        for name in _worked_out(type(self)):
            vars(self).pop(name, None)

    def key(self) -> bytes:
        """Canonical bytes of everything that matters; equal states have equal keys."""
        return msgspec.json.encode(self.to_json(), order="deterministic")

    def mark(self) -> bytes:
        """The bytes by which a journal identifies the state: its key, or less if the game's state
        has gained fields since journals were first written."""
        return self.key()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.game == other.game and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


@cache
def _worked_out(kind: type[State]) -> tuple[str, ...]:
    """The names of what states of a kind work out once and keep"""
    return tuple(
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, cached_property)
    )


class Option(msgspec.Struct, frozen=True):
    """A set-up option: the page asks for it, a script sets it with `option NAME VALUE`. The first
    value is the default."""

    name: str
    values: tuple[str, ...]
    text: Text
    value_texts: tuple[Text, ...] = ()


class Seat(msgspec.Struct, frozen=True):
    """A seat as people know it: its id, its name and the colour the page draws it in (#rrggbb)."""

    id: str
    name: Text
    colour: str


class Statement(msgspec.Struct, frozen=True):
    """One set-up line of a script: its line number and its words (`("layout", "K1", "temple")`)."""

    line: int
    words: tuple[str, ...]


S = TypeVar("S", bound=State)


class Game(abc.ABC, Generic[S]):
    """A game as the other rooms see it, generic over its State. One instance per game, created in
    `engine/<name>/__init__.py` as `GAME`."""

    name: ClassVar[str]
    title: ClassVar[Text]
    # all of them, in the order a script without `seats` uses
    seats: ClassVar[tuple[Seat, ...]]
    players: ClassVar[tuple[int, int]]  # fewest, most
    options: ClassVar[tuple[Option, ...]] = ()
    # kinds that questions show but no plan has: the other sides of cards
    faces: ClassVar[tuple[str, ...]] = ()
    # what an owner may draw on a photo of the board; None: any tag of the plan
    form: ClassVar[Form | None] = None

    @abc.abstractmethod
    def plan(self) -> Plan:
        """The plan that comes with the game."""

    @abc.abstractmethod
    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> S:
        """The position after a script's set-up lines (all but `game` and `seats`). Without lines:
        the game's beginning in table mode. Raises BadText; its message begins with `line N: ` if a
        line is at fault."""

    @abc.abstractmethod
    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> S:
        """The game's beginning in open mode (hands and draws known; draws come as chance nodes)."""

    @abc.abstractmethod
    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> S:
        """The state that `State.to_json` wrote. Raises BadText."""

    @abc.abstractmethod
    def kind_name(self, kind: str) -> Text:
        """What people call a kind, such as "the green leader of Lion"."""

    def seat_of(self, kind: str) -> str | None:
        """The seat that a kind belongs to ("bull" for leader:bull:black); such a piece stays in the
        box if nobody sits there. None if it belongs to nobody."""
        parts = kind.split(":")
        return next((s.id for s in self.seats if s.id in parts), None)

    def chronicle(self, start: S, played: Sequence[tuple[Action, S]]) -> list[dict[str, Any]]:
        """What is worth telling about a whole game besides the scores, such as its longest wars:
        tables of the form that `view` has.

        played: every action with the state after it.
        """
        return []

    def worth(self, score: Any) -> float:
        """What a seat's score is worth at the end, as one number: the score itself, its "total", or
        the sum of its parts."""
        if isinstance(score, dict):
            return score["total"] if "total" in score else sum(score.values())
        return score or 0

    def plan_faults(self, plan: Plan) -> list[PlanFault]:
        """What is wrong with a custom plan, in terms its owner can fix; [] if it can be played as
        it is."""
        return []
