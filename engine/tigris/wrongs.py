"""Changes that no action can express, each with the rule that forbids it: pieces taken away,
exchanged or put back."""

from __future__ import annotations

from engine.game import Violation
from engine.text import say
from engine.tigris.board import cells_of
from engine.tigris.position import Position
from engine.tigris.seen import Seen
from engine.tigris.words import TILES, kind_name

Wrong = tuple[int, tuple[Violation, ...], float]
"""(squares touched, rules broken, cost)"""


def wrong_doings(s: Position, seen: Seen) -> list[Wrong]:
    """What was done against the rules, as far as the board shows it."""
    return _wrong_tiles(s, seen) + _wrong_treasures(s, seen) + _other_wrongs(s, seen)


def _wrong_tiles(s: Position, seen: Seen) -> list[Wrong]:
    p = s.pieces
    out: list[Wrong] = []
    covered = seen.catastrophes | seen.flipped | seen.hidden
    for c, tiles in enumerate(p.tiles):
        new = seen.tiles[c] & ~tiles & p.free
        for cell in cells_of(tiles & ~seen.tiles[c] & ~covered):
            site, piece = s.board.ids[cell], kind_name(TILES[c])
            stays = Violation(
                "T25", say("{piece} on {site} stays where it was placed", piece=piece, site=site)
            )
            if any(t >> cell & 1 for t in seen.tiles):
                free = Violation("T19", say("{site} is not free", site=site))
                out.append((1 << cell, (stays, free), 0.5))
                continue
            out.append((1 << cell, (stays,), 1.0))
            out += [(1 << cell | 1 << to, (stays,), 1.0) for to in list(cells_of(new))[:3]]
    return out[:12]


def _wrong_treasures(s: Position, seen: Seen) -> list[Wrong]:
    """Treasures taken that nobody may take now, or the wrong ones."""
    p, out = s.pieces, []
    back = seen.treasures & ~p.treasures
    for cell in cells_of(p.treasures & ~seen.treasures):
        bit, site = 1 << cell, s.board.ids[cell]
        broken = [
            Violation(
                "T59",
                say(
                    (
                        "the treasure on {site} stays: only a trader's owner takes "
                        "treasures, all but one"
                    ),
                    site=site,
                ),
            )
        ]
        kingdom = p.kingdom_at(cell)
        corners = (p.treasures | s._before.treasures) & s.board.corner
        if kingdom is not None and not s.board.corner & bit and kingdom.mask & corners:
            broken.insert(
                0, Violation("T60", say("treasures of the corner squares are taken before others"))
            )
        out.append((bit | back, tuple(broken), 1.0))
        if back:
            out.append((bit, tuple(broken), 1.5))
    out += [
        (
            1 << cell,
            (Violation("T3", say("treasures lie only where they lay at the beginning")),),
            2.0,
        )
        for cell in cells_of(back & ~s._before.treasures)
    ]
    return out[:12]


def _other_wrongs(s: Position, seen: Seen) -> list[Wrong]:
    p = s.pieces
    out: list[Wrong] = []
    for cell in cells_of(p.catastrophes & ~seen.catastrophes):
        out.append(
            (
                1 << cell,
                (Violation("T32", say("the catastrophe on {site} stays", site=s.board.ids[cell])),),
                1.0,
            )
        )
    standing = p.flipped & ~seen.flipped & ~seen.hidden
    for m, cell in enumerate(p.monuments):
        if cell >= 0 and not seen.monuments[m] >> cell & 1:
            square = s.board.squares[cell]
            standing &= ~square
            piece = kind_name("monument:" + s.board.monuments[m])
            out.append(
                (
                    1 << cell | square,
                    (Violation("T56", say("{piece} stays where it stands", piece=piece)),),
                    1.0,
                )
            )
    if standing:
        out.append((standing, (Violation("T56", say("face-down tiles stay face-down")),), 1.5))
    turned = seen.flipped & ~p.flipped
    if turned:
        out.append(
            (
                turned,
                (Violation("T53", say("only a square that was just completed is turned over")),),
                1.5,
            )
        )
    return out[:12]
