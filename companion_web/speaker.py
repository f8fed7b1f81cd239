"""Speaks the table's conclusions through its own loudspeaker in one language: the sentences that
the page shows, once each."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from companion.explain.verdict import BUSY, ILLEGAL, SAME
from companion_web.catalogue import catalogue_of, translated_text
from engine.text import Text

log = logging.getLogger(__name__)
AT_ONCE = 3  # the most moves and to-dos spoken in one go
HEADS = {
    "moved": "Done",
    "unfinished": "Not finished yet",
    "illegal": "Not allowed",
    "unclear": "Not clear",
}


class Follows(Protocol):
    """What a speaker needs from a table."""

    def snapshot(self) -> dict[str, Any]: ...

    def wait(self, version: int, timeout: float) -> int: ...


class Speaker:
    """Follows a table in a thread of its own. say: what reads a text aloud."""

    def __init__(self, table: Follows, say: Callable[[str], object], language: str) -> None:
        self._table, self._say, self._language = table, say, language
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="speaker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def _follow(self) -> None:
        version, said = 0, None
        while not self._stop.is_set():
            now = self._table.wait(version, 0.5)
            if now == version:
                continue
            version = now
            try:
                snapshot = self._table.snapshot()
                if snapshot["verdict"]["verdict"] in (BUSY, SAME):
                    continue
                text = spoken_verdict(snapshot, self._language)
                if said is not None and text and text != said:
                    self._say(text)
                said = text
            except Exception:
                log.exception("the table could not say what it saw")


def spoken_verdict(snapshot: Mapping[str, Any], language: str) -> str:
    """The page's verdict as one text: the verdict, the actions or the rule, what to do, the
    question, whose turn it is."""
    verdict = snapshot["verdict"]
    kind, outcome, question = verdict["verdict"], snapshot["outcome"], snapshot["question"]
    names = {s["id"]: s["name"] for s in snapshot["seats"]}
    people = snapshot["settings"].get("names") or {}

    def name(seat: str) -> str:
        return people.get(seat) or spoken_text(names[seat], language)

    out = [translated_text(language, HEADS.get(kind, kind))]
    if kind == ILLEGAL:
        out += [spoken_text(v["text"], language) for v in verdict["violations"][:1]]
        out += [spoken_text(text, language) for text in verdict["back"][:AT_ONCE]]
    else:
        count = len(verdict["actions"])
        for move in snapshot["moves"][-min(count, AT_ONCE) :] if count else ():
            out += [spoken_text(text, language) for text in move["words"]]
        out += [spoken_text(todo["text"], language) for todo in verdict["todo"][:AT_ONCE]]
    if question is not None:
        out.append(spoken_text(question["text"], language))
    if outcome is not None:
        winners = ", ".join(name(seat) for seat in outcome["winners"])
        out.append(translated_text(language, "Winner: {names}", names=winners))
    elif kind == "moved" and snapshot["turn"] in names:
        out.append(translated_text(language, "It is {name}'s turn.", name=name(snapshot["turn"])))
    return " ".join(_whole_sentence(text) for text in dict.fromkeys(out) if text)


def spoken_text(packed: Any, language: str) -> str:
    """A packed sentence as text, with words and places in it named as on the page."""
    texts = catalogue_of(language)["texts"]
    if isinstance(packed, Mapping) and "t" in packed:
        args = {k: spoken_text(v, language) for k, v in packed.get("a", {}).items()}
        return Text(packed["t"], args).translated(lambda t: texts.get(t, t))
    if not isinstance(packed, str):
        return str(packed)
    return texts.get(packed) or ", ".join(_place_name(part, texts) for part in packed.split(", "))


def _place_name(name: str, texts: Mapping[str, str]) -> str:
    """ "australia-3.forest1": "Australia 3, forest 1"; anything else as it is"""
    parts = []
    for part in name.split("."):
        found = re.fullmatch(r"([a-z][a-z-]*?)-?(\d*)", part)
        if found is None or found[1] not in texts:
            return name
        parts.append(f"{texts[found[1]]} {found[2]}".strip())
    return ", ".join(parts)


def _whole_sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")
