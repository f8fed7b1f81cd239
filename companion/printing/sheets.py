"""`nilometer print`: marker cards, board and pieces in true size, as PDF, from the art the
simulated camera films.

What is cut out comes from the plan's counts and art.toml's backs: a piece with a back is printed as
front and back side by side, to be folded and glued. `[[sheet]]` in art.toml says it for kinds that
the plan does not count:

    [[sheet]]
    front = { "water:01" = 8, "water:11" = 12 }          # kind = how many
    back = { "event:hippo" = 6, "event:none" = 14 }      # dealt out over the fronts; none: blank
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import segno

from companion.printing.board_drawing import piece_namer
from companion.printing.pdf import MM, Page, Pdf, text_width, wrapped_lines
from engine.art import Art
from engine.shapes import footprint_outline
from engine.text import Text, say
from hardware import props
from hardware.scene import CARD, CARD_GAP
from vision.plan import Plan

A4 = (210.0, 297.0)
PAPERS = {"a4": A4, "letter": (215.9, 279.4)}
MARGIN = 9.0  # mm at the edge that printers cannot be trusted with
OVERLAP = 8.0  # mm of overlap between board sheets, for glue
GAP = 3.0  # mm between pieces, for scissors
CORNERS = (say("upper left"), say("upper right"), say("lower right"), say("lower left"))
GREY = "#8c8c8c"

Translator = Callable[[Text], str]

__all__ = ["MM", "board_sheets", "cut_outs", "print_document"]


def print_document(
    plan: Plan,
    art: Art,
    title: Text,
    address: str = "",
    parts: Sequence[str] = ("cards", "board", "pieces"),
    paper: tuple[float, float] = A4,
    words: Translator = str,
) -> Pdf:
    """The whole PDF.

    address: what a QR code on the first sheet leads to. parts: which of cards, board, pieces.
    paper: (width, height) of a sheet in mm. words: translates a text into the reader's language.
    """
    pdf = Pdf(words(say("{title}: to print and play", title=title)))
    if "cards" in parts:
        _card_sheet(pdf, plan, title, address, paper, words)
    if "board" in parts:
        _add_board(pdf, plan, art, title, paper, words)
    if "pieces" in parts:
        _add_pieces(pdf, plan, art, title, paper, words)
    return pdf


def _card_sheet(
    pdf: Pdf, plan: Plan, title: Text, address: str, paper: tuple[float, float], words: Translator
) -> None:
    page = pdf.page(*paper)
    w, h = plan.size
    page.text(MARGIN + 6, 22, words(say("{title}: marker cards", title=title)), 5, bold=True)
    steps = [
        say(
            "Print this at 100% (“actual size”, not “fit to page”): the ruler below must measure"
            " 100 mm."
        ),
        say(
            "Cut out the four cards along the thin lines, leaving the white rim on, and tape them"
            " flat to the table, the same way up as the board."
        ),
        say(
            "The corner with the small triangle touches the corner of the board that the card"
            " names; the card's sides are parallel to the board's."
        ),
        say(
            "The black squares are then {gap} mm outside the board's corners; their nearest"
            " corners are {across} mm apart from left to right and {down} mm from top to bottom.",
            gap=f"{CARD_GAP:g}",
            across=f"{w + 2 * CARD_GAP:g}",
            down=f"{h + 2 * CARD_GAP:g}",
        ),
        say("A millimetre or two off does not matter: it is measured."),
    ]
    y, room = 32.0, paper[0] - 2 * MARGIN - 16
    for number, step in enumerate(steps, 1):
        page.text(MARGIN + 6, y, f"{number}.", 2.1)
        for line in wrapped_lines(words(step), 2.1, room):
            page.text(MARGIN + 10, y, line, 2.1)
            y += 4.2
        y += 1.2
    side = CARD + 2 * CARD_GAP
    for number, name in enumerate(CORNERS):
        x, y = (45 + 78 * (number in (1, 2)), 102 + 68 * (number in (2, 3)))
        page.draw(props.marker_card(number, CARD, CARD_GAP), x, y)
        page.draw([_outline_shape(footprint_outline((side, side)))], x, y)
        sx, sy = (1 if number in (0, 3) else -1), (1 if number in (0, 1) else -1)
        at = [sx * side / 2, sy * side / 2]
        page.draw(
            [
                {
                    "p": "polygon",
                    "points": [at, [at[0] - sx * 3, at[1]], [at[0], at[1] - sy * 3]],
                    "fill": "#404040",
                    "stroke": None,
                    "width": 0.0,
                }
            ],
            x,
            y,
        )
        # on the margin, which stays on the card
        page.text(x - side / 2 + 4, y + side / 2 - 1.2, f"{number}: {words(name)}", 1.8, GREY)
    _draw_ruler(page, MARGIN + 6, 216)
    if address:
        _draw_qr(page, 150, 214, 40, address)
        page.text(150, 260, address, min(2.4, 2.4 * 48 / max(text_width(address, 2.4), 1)))
    _small_board(page, plan, MARGIN + 6, 234, words(say("the board")))


def _draw_ruler(page: Page, x: float, y: float) -> None:
    page.line(x, y, x + 100, y, 0.3, "#000000")
    for mm in range(0, 101, 5):
        page.line(x + mm, y, x + mm, y - (4 if mm % 10 == 0 else 2), 0.2, "#000000")
    page.text(x, y + 5, "0", 2.1)
    page.text(x + 92, y + 5, "100 mm", 2.1)


def _small_board(page: Page, plan: Plan, x: float, y: float, name: str) -> None:
    """A small drawing of where the cards go."""
    w, h = plan.size
    scale = 36 / max(w, h)
    square, gap = CARD * scale, CARD_GAP * scale
    x, y = x + square + gap, y + square + gap
    page.draw(
        [
            _outline_shape(
                [[0, 0], [w * scale, 0], [w * scale, h * scale], [0, h * scale]], "#404040"
            )
        ],
        x,
        y,
    )
    page.draw(
        [
            {
                "p": "text",
                "at": [w * scale / 2, h * scale / 2],
                "text": name,
                "size": min(3.0, 3.0 * 0.9 * w * scale / text_width(name, 3.0)),
                "turn": 0.0,
                "fill": GREY,
            }
        ],
        x,
        y,
    )
    for number in range(4):
        right, low = number in (1, 2), number in (2, 3)
        cx = w * scale + gap + square / 2 if right else -gap - square / 2
        cy = h * scale + gap + square / 2 if low else -gap - square / 2
        s = square / 2
        page.draw(
            [
                {
                    "p": "polygon",
                    "points": [[-s, -s], [s, -s], [s, s], [-s, s]],
                    "fill": "#000000",
                    "stroke": None,
                    "width": 0.0,
                }
            ],
            x + cx,
            y + cy,
        )
        page.text(x + cx + (s + 1.2 if right else -s - 3.2), y + cy + 1, str(number), 2.1)


def _draw_qr(page: Page, x: float, y: float, side: float, address: str) -> None:
    matrix = list(segno.make(address, error="m").matrix)
    cell = side / len(matrix)
    for row, bits in enumerate(matrix):
        col = 0
        while col < len(bits):
            end = col
            while end < len(bits) and bits[end]:
                end += 1
            if end > col:
                x0, y0, x1, y1 = col * cell, row * cell, end * cell, (row + 1) * cell
                page.draw(
                    [
                        {
                            "p": "polygon",
                            "points": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
                            "fill": "#000000",
                            "stroke": None,
                            "width": 0.0,
                        }
                    ],
                    x,
                    y,
                )
            col = max(end, col + 1)


def board_sheets(
    size: Sequence[float], paper: tuple[float, float] = A4
) -> tuple[tuple[float, float], list[tuple[int, int, float, float]]]:
    """How a board of `size` mm is cut into sheets: the sheet's (width, height), and (row, column,
    x, y) of each, where x and y are the mm of the board at the upper left of its printed part. Uses
    the orientation with fewer sheets, all of one size, without narrow strips."""
    best = None
    for sheet in (paper, paper[::-1]):
        room = [s - 2 * MARGIN for s in sheet]
        across, down = (
            max(1, math.ceil((b - OVERLAP) / (r - OVERLAP))) for b, r in zip(size, room)
        )
        if best is None or across * down < len(best[1]):
            best = (
                sheet,
                [
                    (row, col, col * (size[0] - OVERLAP) / across, row * (size[1] - OVERLAP) / down)
                    for row in range(down)
                    for col in range(across)
                ],
            )
    assert best is not None
    return best


def _add_board(
    pdf: Pdf, plan: Plan, art: Art, title: Text, paper: tuple[float, float], words: Translator
) -> None:
    prims = art.board(plan)
    if not prims:
        return
    w, h = plan.size
    whole = pdf.stamp(prims, (0.0, 0.0, w, h))
    sheet, tiles = board_sheets(plan.size, paper)
    rows, cols = max(t[0] for t in tiles) + 1, max(t[1] for t in tiles) + 1
    for row, col, x, y in tiles:
        page = pdf.page(*sheet)
        right, low = (MARGIN + (side - OVERLAP) / n + OVERLAP for side, n in ((w, cols), (h, rows)))
        page.window(whole, MARGIN - x, MARGIN - y, (MARGIN, MARGIN, right, low))
        _crop_marks(page, MARGIN, MARGIN, right, low)
        if col + 1 < cols:
            page.line(right - OVERLAP, MARGIN, right - OVERLAP, low, 0.15, "#000000", 1.5)
        if row + 1 < rows:
            page.line(MARGIN, low - OVERLAP, right, low - OVERLAP, 0.15, "#000000", 1.5)
        where = say(
            "{title}, board: row {row} of {rows}, column {column} of {columns}.",
            title=title,
            row=row + 1,
            rows=rows,
            column=col + 1,
            columns=cols,
        )
        glue = say(
            "Cut at the corner marks; glue the next sheet on with its edge along the dashed line."
        )
        note = f"{words(where)} {words(glue)}" if len(tiles) > 1 else words(where)
        page.text(MARGIN + 6, MARGIN - 3, note, 1.8, GREY)


def _crop_marks(page: Page, x0: float, y0: float, x1: float, y1: float) -> None:
    for x, out in ((x0, -1), (x1, 1)):
        for y, up in ((y0, -1), (y1, 1)):
            page.line(x + out, y, x + 5 * out, y, 0.15, "#000000")
            page.line(x, y + up, x, y + 5 * up, 0.15, "#000000")


def cut_outs(plan: Plan, art: Art) -> Iterator[tuple[str, str | None, int]]:
    """(front, back or None, how many) for everything to cut out."""
    printed: set[str] = set()
    for entry in art.data.get("sheet", ()):
        fronts, backs = _dealt_backs(entry["front"]), _dealt_backs(entry.get("back", {}))
        printed |= set(fronts) | set(entry.get("instead_of", ()))
        if backs:
            step = next(
                s
                for s in range(max(1, round(0.38 * len(backs))), len(backs) + 2)
                if math.gcd(s, len(backs)) == 1
            )
            backs = [backs[i * step % len(backs)] for i in range(len(fronts))]
        pairs: dict[tuple[str, str | None], int] = {}
        behind: Sequence[str | None] = backs or [None] * len(fronts)
        for front, back in zip(fronts, behind):
            pairs[front, back] = pairs.get((front, back), 0) + 1
        yield from ((front, back, n) for (front, back), n in pairs.items())
    backs_of_others = {art.back(p.kind) for p in plan.piece if p.kind not in printed and p.count}
    for piece in plan.piece:
        back = art.back(piece.kind)
        if not piece.count or piece.looks or piece.kind in printed:
            continue
        if back is None and piece.kind in backs_of_others:
            continue  # it is only the back of something else
        if back is not None and art.back(back) == piece.kind:
            if back in printed:
                continue
            printed.add(piece.kind)  # two kinds on the two sides of one piece: printed once
        yield piece.kind, back, piece.count


def _dealt_backs(counts: dict[str, int]) -> list[str]:
    return [kind for kind, n in counts.items() for _ in range(n)]


def _piece_size(plan: Plan, art: Art, kind: str) -> Any:
    return plan.pieces[kind].size if kind in plan.pieces else art.size(kind)


def _add_pieces(
    pdf: Pdf, plan: Plan, art: Art, title: Text, paper: tuple[float, float], words: Translator
) -> None:
    shelf = _Shelves(pdf, words(say("{title}: pieces", title=title)), paper)
    # Pieces of one size are grouped together, whatever they are, which saves paper.
    groups: dict[tuple, list[tuple[str, str | None, int]]] = {}
    for front, back, count in cut_outs(plan, art):
        size = _piece_size(plan, art, front)
        height = plan.pieces[front].height if front in plan.pieces else 0.0
        groups.setdefault((size, back is not None, max(height, 5.0)), []).append(
            (front, back, count)
        )
    for (size, two_sided, height), members in groups.items():
        outline = footprint_outline(size)
        w, h = (max(p[i] for p in outline) * 2 for i in (0, 1))
        cell = (2 * w if two_sided else w), h
        shelf.caption(words(_caption_text(plan.game, members, two_sided, height)), *cell)
        for front, back, count in members:
            stamps = [
                pdf.stamp(
                    [*art.piece(k, size), _outline_shape(outline)],
                    (-w / 2 - 1, -h / 2 - 1, w / 2 + 1, h / 2 + 1),
                )
                for k in (front, back)
                if k
            ]
            for _ in range(count):
                page, x, y = shelf.place(*cell)
                for n, stamp in enumerate(stamps):
                    page.stamp(stamp, x + (n + 0.5) * w, y + h / 2)
                if two_sided:
                    page.line(x + w, y - 1.2, x + w, y + 0.4, 0.15, "#000000")
                    page.line(x + w, y + h - 0.4, x + w, y + h + 1.2, 0.15, "#000000")


def _caption_text(
    game: str, members: Sequence[tuple[str, str | None, int]], two_sided: bool, height: float
) -> Text:
    """What a group is, and what to do with it."""
    number = sum(n for _, _, n in members)
    pieces = (
        say("{what} ({n})", what=piece_namer(game)(members[0][0]), n=number)
        if len(members) == 1
        else say("{n} pieces", n=number)
    )
    if height > 5:
        return say(
            "{pieces}: glue onto something {height} mm high", pieces=pieces, height=f"{height:g}"
        )
    return say("{pieces}: fold, glue, cut out", pieces=pieces) if two_sided else pieces


class _Shelves:
    """Puts pieces on pages, row after row, each group under its name."""

    def __init__(self, pdf: Pdf, title: str, paper: tuple[float, float]) -> None:
        self.pdf, self.title, self.paper = pdf, title, paper
        self._page: Page | None = None
        self.x = self.y = self.row = 0.0

    @property
    def page(self) -> Page:
        """The page that is being filled."""
        assert self._page is not None
        return self._page

    def caption(self, text: str, w: float, h: float) -> None:
        """Starts a row with a group's name above its pieces."""
        if self._page is None or self.y + self.row + 6 + h > self.paper[1] - MARGIN:
            self._new_page()
        else:
            self._new_row()
        self.page.text(MARGIN, self.y + 3, text[:1].upper() + text[1:], 1.9, GREY)
        self.y += 5

    def place(self, w: float, h: float) -> tuple[Page, float, float]:
        """The page and the position on it of the next piece's upper left corner."""
        if self.x + w > self.paper[0] - MARGIN:
            self._new_row()
        if self.y + h > self.paper[1] - MARGIN:
            self._new_page()
        x, self.row = self.x, max(self.row, h + GAP)
        self.x += w + GAP
        return self.page, x, self.y

    def _new_row(self) -> None:
        self.x, self.y, self.row = MARGIN, self.y + self.row, 0.0

    def _new_page(self) -> None:
        self._page = self.pdf.page(*self.paper)
        self._page.text(MARGIN, MARGIN, self.title, 1.9, GREY)
        self.x, self.y, self.row = MARGIN, MARGIN + 3, 0.0


def _outline_shape(points: Sequence[Sequence[float]], colour: str = "#b0b0b0") -> dict[str, Any]:
    return {
        "p": "polygon",
        "points": [list(p) for p in points],
        "fill": None,
        "stroke": colour,
        "width": 0.12,
    }
