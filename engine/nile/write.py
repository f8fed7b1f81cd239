"""Any position as set-up lines that `engine.script` reads back (docs/contracts.md, Notation)."""

from __future__ import annotations

from engine.nile.board import FRUITS, Board
from engine.nile.position import Position, Wait

# `now NAME VALUE...`: what a moment inside a round needs beyond the lines of the contract
NUMBERS = ("round", "laid", "points", "discard", "deserts", "rebids")
FLAGS = ("tried", "fresh", "asif", "open")
SEAT_NUMBERS = ("fists", "bids", "owed", "lost")


def write_position(p: Position, board: Board) -> str:
    """Set-up lines that read back as the same position."""
    out = ["game nile", "seats " + " ".join(p.seats)]
    out += [f"option {o} on" for o in p.options]
    out.append("layout clear")
    out += [f"layout {site} {' '.join(c)}" for site, c in sorted(p.lay.items())]
    out.append(f"tide {p.tide}")
    out += [f"score {s} {n}" for s, n in zip(p.seats, p.scores)]
    out.append(f"obelisk {p.obelisk}")
    out.append(f"phase {p.phase}")
    out.append(f"starter {p.seats[p.starter]}")
    for i, s in enumerate(p.seats):
        out.append(f"jokers {s} {p.jokers[i]}")
        out.append(f"now stock {s} " + " ".join(map(str, p.stock[i])))
        if any(p.out[i]):
            out.append(f"now out {s} " + " ".join(map(str, p.out[i])))
        out.append(f"now piles {s} " + " ".join(f"{top or '-'} {n}" for top, n in p.piles[i]))
    out.append(f"now turn {p.seats[p.turn]}")
    out.append(f"now mode {p.mode}")
    out += [f"now {name} {getattr(p, name)}" for name in NUMBERS]
    out += [f"now {name}" for name in FLAGS if getattr(p, name)]
    out += [
        f"now {name} " + " ".join(map(str, getattr(p, name)))
        for name in SEAT_NUMBERS
        if any(getattr(p, name))
    ]
    out += [f"now active {a}" for a in p.active]
    if p.bought:
        out.append("now bought " + " ".join(p.seats[i] for i in p.bought))
    if p.planted:
        out.append("now planted " + " ".join(p.planted))
    if p.unsaid:
        out.append(f"now unsaid {p.unsaid}")
    out += [f"now waiting {_wait_words(w, p)}" for w in p.waiting]
    return "\n".join(out) + "\n"


def _wait_words(w: Wait, p: Position) -> str:
    return (
        f"{w.kind} {w.site or '-'} {w.cause or '-'} "
        f"{p.seats[w.seat] if w.seat >= 0 else '-'} {w.number}"
    )


def read_wait(words: list[str], seats: tuple[str, ...]) -> Wait:
    """A `Wait` from the words of its line. Raises ValueError."""
    kind, site, cause, seat, number = words
    return Wait(
        kind,
        "" if site == "-" else site,
        "" if cause == "-" else cause,
        -1 if seat == "-" else seats.index(seat),
        int(number),
    )


def read_numbers(words: list[str], n: int) -> tuple[int, ...]:
    """Whole numbers from words, n of them. Raises ValueError."""
    if len(words) != n:
        raise ValueError(f"{n} numbers are needed")
    return tuple(map(int, words))


def read_stock(words: list[str]) -> tuple[int, ...]:
    """Numbers of each marker, as `write` has them."""
    return read_numbers(words, len(FRUITS))
