"""A table without camera and rules: what companion.table.table.Table publishes, made by hand, so
that tests see the page only; and the phones at it."""

import threading
from types import SimpleNamespace

import companion_web
import engine
from companion.table.table import Gone, Refused
from engine import BadText, Violation, say
from engine.text import pack_text

GAME = "tigris"
SEATS = [
    {"id": "bull", "name": pack_text(say("Bull")), "colour": "#c02020"},
    {"id": "lion", "name": pack_text(say("Lion")), "colour": "#2060c0"},
]
SCORES = {"bull": {"red": 0, "black": 0}, "lion": {"red": 0, "black": 0}}
LEGAL = ("pass", "tile red C4", "leader black E5", "leader red E5")
READY = {
    "verdict": "same",
    "actions": [],
    "text": say("ready"),
    "violations": [],
    "back": [],
    "todo": [],
    "sites": [],
    "wrong": {},
}
START = {"B2": ["temple", "treasure"], "K1": ["temple", "treasure"], "D4": ["leader:bull:black"]}


class FakeAction(SimpleNamespace):
    def words(self):
        return self.said

    def asks(self):
        return None

    def __str__(self):
        return f"{self.seat}: {self.said}"


class FakeState:
    """One layout, scores, and a handful of legal actions."""

    def __init__(self, layout, scores):
        self._layout, self._scores = layout, scores

    def layout(self):
        return {s: tuple(c) for s, c in self._layout.items()}

    def scores(self):
        return {s: dict(v) for s, v in self._scores.items()}

    def standing(self):
        return {s: sum(v.values()) for s, v in self._scores.items()}

    def to_text(self):
        return f"game {GAME}\nseats bull lion\nlayout clear\nlayout B2 temple treasure K1 temple treasure D4 leader:bull:black"

    steps = ()

    def parse(self, text):
        seat, _, words = text.partition(":")
        return FakeAction(seat=seat.strip().lower(), said=words.strip())

    def apply(self, action):
        return self

    def key(self):
        return repr(self._layout)

    def legal_actions(self):
        return [FakeAction(seat=s, said=w) for s in ("bull", "lion") for w in LEGAL]


def facts():
    return [
        {
            "label": say("Catastrophes"),
            "value": 2,
            "colour": None,
            "kind": "catastrophe",
            "secret": False,
        },
        {"label": say("Points"), "value": 7, "colour": None, "kind": None, "secret": True},
    ]


VIEW = {
    "phase": say("actions"),
    "round": None,
    "left": say("{n} actions left", n=2),
    "tracks": [
        {
            "id": "bag",
            "label": say("Tiles in the bag"),
            "value": 120,
            "max": 143,
            "steps": None,
            "marks": [20],
        },
        {
            "id": "sun",
            "label": say("Sun"),
            "value": 1,
            "max": None,
            "steps": [say("low"), say("high")],
            "marks": [],
        },
    ],
    "seats": [{"id": "bull", "facts": facts()}, {"id": "lion", "facts": facts()}],
    "coming": [say("The monument pays Bull")],
    "notes": [say("Bull plays first")],
    "tables": [
        {"title": say("Kingdoms"), "columns": [say("Kingdom"), say("Leaders")], "rows": [["D4", 1]]}
    ],
    "highlight": {"E5": say("here one may build")},
}


class FakeTable:
    """Same calls as companion.table.table.Table; `act(site, contents)` is a move seen by the camera."""

    def __init__(self, hidden_scores=False):
        self._changed = threading.Condition()
        self.version, self.settings = 1, {"hidden_scores": hidden_scores}
        self.heard, self.pictures, self.verdict, self.question, self.decision, self.outcome = (
            [],
            {},
            None,
            None,
            None,
            None,
        )
        self.journal = SimpleNamespace(
            picture=lambda event, which: self.pictures.get((event, which))
        )
        self.camera = {"state": "ok", "by": "markers", "error_px": 0.31, "fps": 5.0}
        self.trouble = self.pause = None
        self.words, self.turn, self.more = [], "bull", {}
        self.lines = (SimpleNamespace(event=1, action=None, state=FakeState(START, SCORES)),)

    @property
    def state(self):
        return self.lines[-1].state

    def tell(self):
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def wait(self, version, timeout):
        with self._changed:
            self._changed.wait_for(lambda: self.version != version, timeout)
            return self.version

    def act(self, text, site, contents, points=1):
        seat = text.split(":")[0]
        state = self.state
        scores = state.scores()
        if seat in scores:
            scores[seat]["red"] += points
        after = FakeState({**state._layout, site: contents}, scores)
        self.lines += (SimpleNamespace(event=self.lines[-1].event + 1, action=text, state=after),)
        self.conclude("moved", actions=[text], text=say("{actions}", actions=text), sites=[site])

    def conclude(self, verdict, **more):
        self.verdict = pack_text({**READY, "verdict": verdict, **more})
        self.tell()

    undone, sight, began = (), None, ""

    def guesses(self, site):
        return [("temple",), ("market",)]

    def correct(self, site, contents, by, allowed):
        self.heard.append(("correct", site, contents, by))
        self.act("bull: corrected", site, list(contents))

    def meant(self, text):
        seat, _, words = text.partition(":")
        if not words.strip() or words.split()[0] not in ("tile", "leader", "pass", "commit"):
            raise BadText(f"{words.strip()!r} is no action")
        if "J9" in text:
            raise Refused([Violation("T19", say("farms go on the river"))])
        return (FakeAction(seat=seat.strip().lower(), said=words.strip()),)

    def declare(self, text, by, meant=None):
        self.meant(text)
        self.heard.append(("declare", text, by))
        self.act(text, text.split()[-1], ["temple"] if "tile" in text else [])

    def answer(self, question_id, choice, by):
        if self.question is None or self.question["id"] != question_id:
            raise Gone("gone")
        self.heard.append(("answer", question_id, choice, by))
        self.question = None
        self.tell()

    def undo(self, event, by, last=None):
        if event not in [line.event for line in self.lines]:
            raise Gone("gone")
        self.heard.append(("undo", event, by))
        self.lines = tuple(line for line in self.lines if line.event <= event)
        self.tell()

    def go_on(self, by):
        self.heard.append(("go on", by))
        self.pause = None
        self.tell()

    def set(self, by, **settings):
        self.heard.append(("set", settings, by))
        self.settings.update(settings)
        self.tell()

    @property
    def plan(self):
        return engine.game(GAME).plan()

    def edit(self, state, by):
        contents = list(state.layout().get("D4", ()))
        self.heard.append(("edit", "D4", contents))
        self.act("table: corrected", "D4", contents)

    def snapshot(self):
        moves = [
            {
                "event": line.event,
                "seat": line.action.split(":")[0],
                "text": line.action,
                "words": self.words,
                "scores": line.state.scores(),
                "standing": line.state.standing(),
                "pictures": (line.event, "after") in self.pictures,
            }
            for line in self.lines[1:]
        ]
        return {
            "version": self.version,
            "game": GAME,
            "title": pack_text(say("Tigris & Euphrates")),
            "seats": SEATS,
            "layout": {s: list(c) for s, c in self.state.layout().items() if c},
            "turn": self.turn,
            "actors": [self.turn],
            "scores": self.state.scores(),
            "standing": self.state.standing(),
            "opening_standing": FakeState(START, SCORES).standing(),
            "outcome": self.outcome,
            "view": pack_text({**VIEW, **self.more}),
            "settings": dict(self.settings),
            "undone": [],
            "verdict": self.verdict or pack_text(READY),
            "question": self.question,
            "decision": self.decision,
            "moves": moves,
            "start": 1,
            "pause": self.pause,
            "trouble": self.trouble,
            "camera": self.camera,
        }

    def ask(self, seat="lion", number=1):
        self.question = {
            "id": f"q{number}",
            "seat": seat,
            "text": say("How many supporters?"),
            "sites": ["D4"],
            "answers": [
                {"text": say("none"), "picture": None},
                {"text": say("one"), "picture": "temple"},
            ],
        }
        self.question = pack_text(self.question)
        self.tell()


class Phone:
    """A phone: a browser's headers and its cookie."""

    def __init__(self, app, address="10.0.0.7"):
        self.client = app.test_client()
        self.environ = {"REMOTE_ADDR": address}
        self.app = app

    def get(self, path, **kw):
        return self.client.get(path, environ_overrides=self.environ, **kw)

    def post(self, path, data, headers=None):
        headers = (
            {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
            if headers is None
            else headers
        )
        return self.client.post(path, json=data, headers=headers, environ_overrides=self.environ)

    def sit(self, seat):
        answer = self.post(
            "/api/join", {"code": companion_web.web_of(self.app).access.code, "seat": seat}
        )
        assert answer.status_code == 200, answer.text
        return self
