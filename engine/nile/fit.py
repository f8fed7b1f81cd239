"""Where water cards fit (N13, N17), and what set-up still has to lay (N4, N6)."""

from __future__ import annotations

from engine.game import Violation
from engine.layout import Contents
from engine.nile.actions import card_face
from engine.nile.board import Board, card_on, waves_on
from engine.nile.position import Position
from engine.text import say

STRIPS = {2: (2, 3), 3: (2, 2), 4: (2,), 5: ()}  # rows covered, by their number of fields (N4)
DESERTS = 3  # desert cards on the board at the beginning (N6)


def card_joints(
    lay: dict[str, Contents], board: Board, site: str, pair: str
) -> list[tuple[str, str, str]]:
    """(what it meets, that edge, the card's edge) for a card laid there, towards the river
    first."""
    out = []
    inner, outer = board.inner(site), board.outer(site)
    if inner is None:
        out.append(("the river", str(board.fields[site].river), pair[0]))
    elif w := waves_on(lay.get(inner, ())):
        out.append((inner, w[1], pair[0]))
    if outer and (w := waves_on(lay.get(outer, ()))):
        out.append((outer, w[0], pair[1]))
    return out


def joint_faults(lay: dict[str, Contents], board: Board, site: str, pair: str) -> list[Violation]:
    """Why a water card does not fit its neighbours; [] if it does."""
    meeting = card_joints(lay, board, site, pair)
    if not meeting:
        return [
            Violation(
                "N13", say("{site} touches neither the river nor a card of its row", site=site)
            )
        ]
    out = []
    for what, edge, own in meeting:
        if edge == "0":
            out.append(
                Violation(
                    "N13",
                    say("the edge of {what} toward {site} has no waves", what=what, site=site),
                )
            )
        elif edge != own:
            out.append(
                Violation(
                    "N13", say("{own} waves meet {edge} of {what}", own=own, edge=edge, what=what)
                )
            )
    return out


def card_fits(lay: dict[str, Contents], board: Board, site: str, pair: str) -> bool:
    """Whether a water card fits its neighbours."""
    meeting = card_joints(lay, board, site, pair)
    return bool(meeting) and all(edge == own != "0" for _, edge, own in meeting)


def open_fields(p: Position, board: Board) -> list[str]:
    """Fields that a water card may be laid on as far as the ground is concerned: next to the river
    or a card."""
    return [
        s for s in board.fields if _is_free(p.lay.get(s, ())) and card_joints(p.lay, board, s, "??")
    ]


def _is_free(here: Contents) -> bool:
    lying = card_on(here)
    return lying is None or lying == "desert"


def place_for(p: Position, board: Board, pair: str) -> str | None:
    """A field where a card with these waves fits, either way round."""
    for site in open_fields(p, board):
        if card_fits(p.lay, board, site, pair) or card_fits(p.lay, board, site, pair[::-1]):
            return site
    return None


def fits_anywhere(p: Position, board: Board, seat: int) -> str | None:
    """A field where one of the seat's known top cards fits; unknown ones may fit nowhere."""
    for top, n in p.piles[seat]:
        if n and top != "?" and (site := place_for(p, board, top)):
            return site
    return None


def none_may_fit(p: Position, board: Board, seat: int) -> bool:
    """Whether it is possible that none of the seat's cards fits, whatever the unknown ones are."""
    tops = [top for top, n in p.piles[seat] if n]
    if "?" in tops and all(
        place_for(p, board, pair) for pair in {card_face(w) for w in board.waves}
    ):
        return False
    return fits_anywhere(p, board, seat) is None


def covers_left(p: Position, board: Board) -> list[int]:
    """Lengths of the rows whose strips still have to be laid."""
    left = list(STRIPS[len(p.seats)])
    for sites in board.rows.values():
        if len(sites) in left and p.covered(sites[0]):
            left.remove(len(sites))
    return left


def desert_sites_left(p: Position, board: Board) -> list[str]:
    """Where the next of the three desert cards can be laid."""
    if sum(card_on(c) == "desert" for c in p.lay.values()) >= DESERTS:
        return []
    return [s for s in board.edges if not p.lay.get(s)]
