"""The one shape of all games: State, Action, Violation, Step, Proposal, and the Game that registers
itself.

A State is a value: nothing changes it, `apply` returns the next one. Undo is keeping the one
before.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec

from engine.layout import Contents, Layout, same_contents
from engine.notation import Syntax
from engine.plan import Plan
from engine.text import Text
from engine.tracing import Form, PlanFault


class BadText(ValueError):
    """Text that is no action, set-up line or expectation of this game; the message says what is
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
    """One doing. Each game has its own subclasses, whose `syntax` says how they are written."""

    seat: str

    syntax: ClassVar[Syntax]

    def words(self) -> str:
        """The action as people write it, without the seat."""
        return self.syntax.write(self)

    def without(self, part: Action) -> tuple[Action, ...] | None:
        """What is left of this doing when that part of it was not done; None: that is no part of
        it."""
        return () if part == self else None

    def asks(self) -> str | None:
        """The seat that has to agree before it is done (the other side of a trade); None: nobody
        else."""
        return None

    def __str__(self) -> str:
        return f"{self.seat}: {self.words()}"


class Step(msgspec.Struct, frozen=True):
    """One thing that happens on the board in an action: first the people's own doing (`by_hand`),
    then what follows.

    `changes` is site -> contents after this step. `text` is the sentence for the to-do list
    ("take the green leader of Lion off J5"); steps without changes (points) may have sites () and
    only text.
    """

    text: Text
    changes: dict[str, Contents] = {}
    by_hand: bool = False

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that this step changes."""
        return tuple(self.changes)


class Todo(msgspec.Struct, frozen=True):
    """Something people still have to do. `sites` are named; `seat` is whom it concerns, None: the
    table."""

    text: Text
    sites: tuple[str, ...] = ()
    seat: str | None = None


class Proposal(msgspec.Struct, frozen=True):
    """A guess by `explain`: a run of actions (legal or not) that could have made the difference.

    `changes`: site -> contents as people's hands leave it, before anything that follows by itself.
    For a run that is legal the state's own steps count and `changes` may be empty. Doings that no
    action can express (a tile taken off the board) have no actions but `violations`. `cost`: how
    much less likely than a plain action, in nats. `belated`: the actions were done earlier, unseen:
    they are to be put in at the latest moment they were legal, and what was done since is done
    again. `withdrawn`: what was only guessed to have been done, and was not (`Action.without`);
    what was done since is done again. `uncovered`: each withdrawn action was done under something
    that hid what it laid, and the action of the same place in `actions` was done instead.
    `certain`: False where the board cannot tell the actions, only what they came to.
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
    """One answer to a decision: its words, the action's text, and optionally a kind to draw as a
    picture."""

    text: Text
    action: str
    picture: str | None = None


class Decision(msgspec.Struct, frozen=True):
    """Something a seat has to say that the camera cannot see (commit, which war, an event's
    picture)."""

    seat: str
    text: Text
    choices: tuple[Choice, ...] = ()
    sites: tuple[str, ...] = ()
    # False: a later look at the board will tell, so nobody is asked unless they want to say it
    ask: bool = True


class Outcome(msgspec.Struct, frozen=True):
    """The end: who won (several: they share) and why it ended."""

    winners: tuple[str, ...]
    reason: Text


Difference = Mapping[str, tuple[Contents, Contents]]
"""site -> (contents the state has, contents seen)"""


class State(abc.ABC):
    """The game as the rules know it. Hashable by content through `key()`."""

    game: ClassVar[str]
    seats: tuple[str, ...]
    # sites whose contents the rules neither know nor need
    plan: Plan  # of the board that is played on
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
        """Who may act now: usually the seat whose turn it is; a defender who commits; a chance seat
        such as "bag"."""

    @abc.abstractmethod
    def legal_actions(self) -> list[Action]:
        """Every action `check` finds nothing wrong with (in table mode: that hidden things could
        allow)."""

    @abc.abstractmethod
    def check(self, action: Action) -> list[Violation]:
        """Every rule the action breaks, [] when legal."""

    @abc.abstractmethod
    def apply(self, action: Action) -> Self:
        """The state after it and all that follows by itself. Raises IllegalAction."""

    @abc.abstractmethod
    def parse(self, text: str) -> Action:
        """`"bull: tile red C4"` -> Action. Raises BadText for what is no action at all (legal or
        not is `check`'s)."""

    @abc.abstractmethod
    def layout(self) -> Layout:
        """What lies where, as far as the board shows it."""

    @abc.abstractmethod
    def scores(self) -> dict[str, Any]:
        """seat -> number, or seat -> {colour: number}"""

    def standing(self) -> dict[str, int]:
        """seat -> the one number that decides, as things stand; where that is not the score itself
        a game says so"""
        return {s: v if isinstance(v, int) else sum(v.values()) for s, v in self.scores().items()}

    @abc.abstractmethod
    def outcome(self) -> Outcome | None:
        """Who has won and why the game ended; None while it goes on."""

    @abc.abstractmethod
    def explain(self, difference: Difference) -> list[Proposal]:
        """A few dozen guesses at what was done, legal or not, likeliest first. A guess need not
        explain the whole
        difference: the reconciler goes on from the state after it with what is left."""

    @abc.abstractmethod
    def view(self) -> dict[str, Any]:
        """Plain data for the page beyond the layout; the form is in docs/reference/engine.md."""

    @abc.abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON types; `Game.load` is the other way."""

    @abc.abstractmethod
    def to_text(self) -> str:
        """Set-up lines (docs/contracts.md, Notation; extended where a moment inside an action needs
        it) that `engine.script` reads back."""

    def decision(self) -> Decision | None:
        """What somebody has to say before the game can go on; None when the board alone can
        tell."""
        return None

    def todo(self) -> list[Todo]:
        """What the last action asks people to do on the board, and the decision that waits."""
        out = [Todo(s.text, s.sites) for s in self.steps if not s.by_hand and s.changes]
        d = self.decision()
        if d is not None:
            out.append(Todo(d.text, d.sites, d.seat))
        return out

    def promising(self) -> list[Action]:
        """Legal actions among which a player of some sense chooses, for made-up players; [] where
        the score is guide enough."""
        return []

    def chance(self) -> list[tuple[Action, float]]:
        """At a chance node (open mode): the outcomes with their probabilities; else []."""
        return []

    def skip_chance(self) -> Self:
        """The state with a waiting chance node left unknown (nobody said what was drawn); self when
        none waits."""
        return self

    def implied(self, action: Action) -> tuple[Action, ...]:
        """The passes nobody says at a table that make an act declared out of turn a legal one; ()
        where none do."""
        return ()

    def shows_same(self, site: str, have: Contents, seen: Contents, reads: str = "pile") -> bool:
        """Whether these contents of a site are one to the rules (a game may not care which side is
        up in a heap)."""
        return same_contents(have, seen, reads)

    def unsaid(self) -> Self:
        """The state with an offer that waits declined, as when people just go on (to build a
        monument, say); self when none waits. A decision that cannot be left out is no offer."""
        return self

    @property
    def readings(self) -> tuple[Self, ...]:
        """What this state also is if something went without saying: an offer declined, a player
        with nothing left to do done."""
        then = self.unsaid()
        return () if then is self else (then,)

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        """A game's own script expectation (`["bag", "14"]`): (holds, what was found); None: not an
        expectation here."""
        return None

    def key(self) -> bytes:
        """Canonical bytes of all that matters; equal states have equal keys."""
        return msgspec.json.encode(self.to_json(), order="deterministic")

    def mark(self) -> bytes:
        """What a journal knows the state by: its key, or less where a game has since learnt to keep
        more."""
        return self.key()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.game == other.game and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


class Option(msgspec.Struct, frozen=True):
    """A set-up option: the page asks for it, a script sets it with `option NAME VALUE`. First value
    is the default."""

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
    """A game as the other rooms meet it, with its sort of state. One instance a game, made in
    `engine/<name>/__init__.py` as `GAME`."""

    name: ClassVar[str]
    title: ClassVar[Text]
    # all there are, in the order a script without `seats` takes them
    seats: ClassVar[tuple[Seat, ...]]
    players: ClassVar[tuple[int, int]]  # fewest, most
    options: ClassVar[tuple[Option, ...]] = ()
    # kinds no plan has that questions show: the other sides of cards
    faces: ClassVar[tuple[str, ...]] = ()
    # what an owner may draw on a photo of the board; None: any of the plan's tags
    form: ClassVar[Form | None] = None

    @abc.abstractmethod
    def plan(self) -> Plan:
        """The plan that comes with the game."""

    @abc.abstractmethod
    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> S:
        """The position after the set-up lines of a script (those but `game` and `seats`). No lines:
        a game's beginning in table mode. Raises BadText, its message beginning with `line N: `
        where a line is at fault."""

    @abc.abstractmethod
    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> S:
        """A game's beginning in open mode (hands and draws known; draws come as chance nodes)."""

    @abc.abstractmethod
    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> S:
        """The state of `State.to_json`. Raises BadText."""

    @abc.abstractmethod
    def kind_name(self, kind: str) -> Text:
        """What people call a kind: "the green leader of Lion"."""

    def seat_of(self, kind: str) -> str | None:
        """The seat whose piece a kind is ("bull" of leader:bull:black); it stays in the box where
        nobody sits there. None: anybody's."""
        parts = kind.split(":")
        return next((s.id for s in self.seats if s.id in parts), None)

    def chronicle(self, start: S, played: Sequence[tuple[Action, S]]) -> list[dict[str, Any]]:
        """What is worth telling of a whole game besides the scores, as tables of the form `view`
        has: the longest wars.
        played: every action with the state after it."""
        return []

    def worth(self, score: Any) -> float:
        """What a seat's score counts at the end, as one number: itself, its "total", or its parts
        together."""
        if isinstance(score, dict):
            return score["total"] if "total" in score else sum(score.values())
        return score or 0

    def plan_faults(self, plan: Plan) -> list[PlanFault]:
        """What is wrong with a plan of one's own, as people should mend it. [] when it can be
        played as it is."""
        return []
