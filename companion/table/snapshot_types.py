"""What a table publishes, as types: the form of `table_snapshot()` once it is JSON.

The page's JavaScript is checked against them; `python -m devtools.javascript_types` writes them as
TypeScript.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Packed(TypedDict):
    """A sentence: an English template, which the catalogues translate, and its arguments."""

    t: str
    a: NotRequired[dict[str, Any]]


Words = Packed | str | int | float | None
Score = int | dict[str, int]


class SeatView(TypedDict):
    """A seat of the game."""

    id: str
    name: Packed
    colour: str


class OutcomeView(TypedDict):
    """Who has won and why the game ended."""

    winners: list[str]
    reason: Packed


class ViolationView(TypedDict):
    """A rule that is broken."""

    rule: str
    text: Packed


class TodoView(TypedDict):
    """What people still have to do; seat: who has to do it, null: anyone at the table."""

    text: Packed
    sites: list[str]
    seat: str | None


class VerdictView(TypedDict):
    """What was concluded last. sites: those that are wrong or have changed; wrong: what hands left
    there."""

    verdict: Literal["same", "moved", "unfinished", "illegal", "unclear", "busy"]
    actions: list[str]
    certain: bool
    text: Packed
    back: list[Packed]
    violations: list[ViolationView]
    todo: list[TodoView]
    sites: list[str]
    wrong: dict[str, list[str]]


class AnswerView(TypedDict):
    """picture: a kind of piece to be drawn."""

    text: Packed
    picture: str | None


class QuestionView(TypedDict):
    """seat: who should answer, null: anybody seated."""

    id: str
    seat: str | None
    text: Packed
    sites: list[str]
    answers: list[AnswerView]


class ChoiceView(TypedDict):
    """One answer to a decision, and the action it stands for."""

    text: Packed
    action: str
    picture: str | None


class DecisionView(TypedDict):
    """What a seat has to say because no camera can see it."""

    seat: str
    text: Packed
    choices: list[ChoiceView]
    sites: list[str]
    ask: bool


class MoveView(TypedDict):
    """A move that stands, with the points after it; words: what hands did."""

    event: int
    seat: str
    text: str
    words: list[Packed]
    scores: dict[str, Score]
    standing: dict[str, int]
    pictures: bool


class UndoneView(TypedDict):
    """A move that redo would bring back."""

    seat: str
    text: str


class DifferenceView(TypedDict):
    """A site that is not laid out as it was."""

    site: str
    should: list[str]
    seen: list[str]


class PauseView(TypedDict):
    """since: seconds since 1970, null: the game has not begun. differs: null until the camera has
    seen the board."""

    since: float | None
    differs: list[DifferenceView] | None


class CameraView(TypedDict):
    """by: how the board was found; message: what the camera reports about itself."""

    state: Literal["ok", "lost", "covered", "dark", "frozen", "no board"]
    by: str | None
    error_px: float | None
    fps: float | None
    message: NotRequired[str]


class Track(TypedDict):
    """A value on a scale. steps: names of its positions; marks: values that matter; large: drawn
    large; means: what it asks for; secret: hidden with the scores, "marks": only its marks."""

    id: str
    label: Packed
    value: int | None
    max: int | None
    steps: list[Packed] | None
    marks: list[int]
    large: NotRequired[bool]
    means: NotRequired[Packed]
    secret: NotRequired[Literal[True, False, "marks"]]


class Fact(TypedDict):
    """What is known about a seat; value: null if it is hidden from the viewer."""

    label: Packed
    value: Words
    colour: str | None
    kind: str | None
    secret: bool


class SeatFacts(TypedDict):
    """Everything known about a seat."""

    id: str
    facts: list[Fact]


class DataTable(TypedDict):
    """A table of words and numbers."""

    title: Packed
    columns: list[Packed] | None
    rows: list[list[Words]]
    secret: NotRequired[bool]


class Good(TypedDict):
    """Something that can change hands."""

    id: str
    name: Packed
    colour: str


class Bargain(TypedDict):
    """text: a trade in the action notation, with gaps."""

    text: str
    seats: list[str]
    goods: list[Good]


class GameView(TypedDict):
    """What a game shows beyond the layout (engine.State.view)."""

    phase: Words
    round: int | None
    left: Packed | None
    tracks: list[Track]
    seats: list[SeatFacts]
    coming: list[Packed]
    tables: list[DataTable]
    highlight: dict[str, Packed]
    notes: list[Packed]
    bargain: NotRequired[Bargain | None]


class TableSettings(TypedDict):
    """names: who sits there, seat -> name."""

    hidden_scores: bool
    names: NotRequired[dict[str, str]]


class TableSnapshot(TypedDict):
    """Everything that a table publishes. standing: the one number that decides; start: the first
    event; opening: the scores then."""

    version: int
    game: str
    title: Packed
    seats: list[SeatView]
    layout: dict[str, list[str]]
    turn: str | None
    actors: list[str]
    scores: dict[str, Score]
    standing: dict[str, int]
    view: GameView
    settings: TableSettings
    outcome: OutcomeView | None
    verdict: VerdictView
    question: QuestionView | None
    decision: DecisionView | None
    moves: list[MoveView]
    undone: list[UndoneView]
    start: int
    opening: dict[str, Score]
    opening_standing: dict[str, int]
    pause: PauseView | None
    trouble: Packed | None
    camera: CameraView
    machine: list[Packed]
