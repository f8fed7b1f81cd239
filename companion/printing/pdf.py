"""A small PDF writer for drawings in true size: pages in millimetres, vector primitives
(engine/art.py), Helvetica.

    pdf = Pdf("Title")
    page = pdf.page(210, 297)
    page.draw(art.piece("temple"), 30, 40)    # around (30, 40) mm from the upper left corner
    page.text(20, 20, "Cut along the lines", 4)
    pdf.save(path)

The same content gives the same bytes: no dates, no random ids.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Prim = Mapping[str, Any]

MM = 72 / 25.4
CAPS = 0.718  # height of Helvetica's capitals, as a share of the font size
_WIDTHS = dict(
    zip(
        map(chr, range(32, 127)),
        map(
            int,
            """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556
556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778
722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278
556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584""".split(),
        ),
    )
)


def text_width(text: str, size: float) -> float:
    """The width in mm of a bold text whose capitals are `size` mm high."""
    return sum(_WIDTHS.get(c, 556) for c in text) / 1000 * size / CAPS


def wrapped_lines(text: str, size: float, room: float) -> list[str]:
    """A text in lines of at most `room` mm, broken at spaces; a no-break space holds."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Pdf:
    """A document that is assembled page by page."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.pages: list[Page] = []
        self._stamps: list[tuple[bytes, tuple[float, float, float, float]]] = []

    def page(self, width: float = 210.0, height: float = 297.0) -> Page:
        """A new page, mm."""
        self.pages.append(Page(width, height))
        return self.pages[-1]

    def stamp(self, prims: Sequence[Prim], box: tuple[float, float, float, float]) -> int:
        """Stores a drawing once, for `Page.stamp`. box: (x0, y0, x1, y1) mm; anything outside is
        cut off."""
        self._stamps.append((_drawing_operators(prims).encode("ascii"), box))
        return len(self._stamps) - 1

    def save(self, path: str | Path) -> None:
        """Raises OSError."""
        Path(path).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        # catalogue and page tree come first and are filled in last
        """The whole document."""
        objects: list[bytes] = [b"", b""]
        fonts: list[str] = []
        for name in ("Helvetica-Bold", "Helvetica"):
            objects.append(
                (
                    f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding "
                    f"/WinAnsiEncoding >>"
                ).encode()
            )
            fonts.append(f"/T{len(fonts)} {len(objects)} 0 R")
        stamps = []
        resources = f"<< /Font << {' '.join(fonts)} >> /ProcSet [/PDF /Text] >>"
        for n, (content, box) in enumerate(self._stamps):
            head = (
                f"/Type /XObject /Subtype /Form /BBox [{_number_text(*box)}] /Resources {resources}"
            )
            objects.append(_stream_bytes(content, head))
            stamps.append(f"/X{n} {len(objects)} 0 R")
        resources = (
            f"<< /Font << {' '.join(fonts)} >> /XObject << {' '.join(stamps)} >> /ProcSet "
            f"[/PDF /Text] >>"
        )
        kids = []
        for page in self.pages:
            objects.append(_stream_bytes(page.content(), ""))
            size = _number_text(0, 0, page.width * MM, page.height * MM)
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [{size}] /Resources {resources} "
                f"/Contents {len(objects)} 0 R >>".encode()
            )
            kids.append(f"{len(objects)} 0 R")
        objects.append(b"<< /Title " + _string_bytes(self.title) + b" /Producer (Nilometer) >>")
        # PrintScaling None: viewers then offer true size instead of "fit to page".
        objects[0] = (
            b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>"
        )
        objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
        return _file_bytes(objects)


class Page:
    """A page; positions are in mm from its upper left corner, x right, y down. drawn: the
    primitives so far, for tests."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.drawn: list[Prim] = []
        self._parts: list[str] = []

    def draw(self, prims: Sequence[Prim], x: float = 0.0, y: float = 0.0) -> None:
        """Draws primitives (engine.art) around (x, y) mm from the page's upper left corner."""
        self.drawn += [_moved_shape(p, x, y) for p in prims]
        self._parts.append(f"q 1 0 0 1 {_number_text(x, y)} cm {_drawing_operators(prims)} Q")

    def stamp(self, number: int, x: float, y: float) -> None:
        """A drawing stored by `Pdf.stamp`, with its (0, 0) at (x, y)."""
        self._parts.append(f"q 1 0 0 1 {_number_text(x, y)} cm /X{number} Do Q")

    def window(
        self, number: int, x: float, y: float, box: tuple[float, float, float, float]
    ) -> None:
        """The same, but only what lies inside the box (x0, y0, x1, y1) of the page shows."""
        x0, y0, x1, y1 = box
        self._parts.append(
            f"q {_number_text(x0, y0, x1 - x0, y1 - y0)} re W n "
            f"1 0 0 1 {_number_text(x, y)} cm /X{number} Do Q"
        )

    def line(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        width: float = 0.15,
        colour: str = "#808080",
        dash: float = 0.0,
    ) -> None:
        """Draws a line, mm. dash: the length of its dashes, 0 for a solid line."""
        prim = {"p": "line", "points": [[x0, y0], [x1, y1]], "stroke": colour, "width": width}
        self.drawn.append(prim)
        dashed = f"[{_number_text(dash, dash)}] 0 d " if dash else ""
        self._parts.append(f"q {dashed}{_drawing_operators([prim])} Q")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 3.0,
        colour: str = "#202020",
        bold: bool = False,
    ) -> None:
        """Draws text from (x, y), the left end of its baseline; its capitals are `size` mm high."""
        shown = _string_bytes(text).decode("latin-1")
        self._parts.append(
            f"BT {_colour_numbers(colour)} rg /T{0 if bold else 1} {_number_text(size / CAPS)} Tf "
            f"1 0 0 -1 {_number_text(x, y)} Tm {shown} Tj ET"
        )

    def content(self) -> bytes:
        """The page's drawing commands."""
        flip = f"{_number_text(MM, 0, 0, -MM, 0, self.height * MM)} cm 1 J 1 j"
        return "\n".join([flip, *self._parts]).encode("latin-1")


def _drawing_operators(prims: Sequence[Prim]) -> str:
    return "\n".join(_shape_operators(p) for p in prims)


def _shape_operators(p: Prim) -> str:
    if p["p"] == "text":
        return _text_operators(p)
    fill, stroke = p.get("fill"), p.get("stroke")
    out = []
    if fill:
        out.append(f"{_colour_numbers(fill)} rg")
    if stroke:
        out.append(f"{_colour_numbers(stroke)} RG {_number_text(p['width'])} w")
    if p["p"] == "line":
        return " ".join([*out, _path_operators(p["points"]), "S"])
    if p["p"] == "circle":
        x, y = p["at"]
        path = _circle_operators(x, y, p["r"])
    else:
        path = _path_operators(p["points"]) + " h"
    return " ".join(
        [*out, path, "B" if fill and stroke else "f" if fill else "S" if stroke else "n"]
    )


def _text_operators(p: Prim) -> str:
    size, turn = p["size"], math.radians(p.get("turn", 0))
    half, rise = text_width(p["text"], size) / 2, size / 2
    c, s = math.cos(turn), math.sin(turn)
    # (-half, rise) is where the baseline begins relative to the centre, before turning.
    x, y = p["at"][0] - c * half - s * rise, p["at"][1] - s * half + c * rise
    shown = _string_bytes(p["text"]).decode("latin-1")
    return (
        f"BT {_colour_numbers(p['fill'])} rg /T0 {_number_text(size / CAPS)} Tf "
        f"{_number_text(c, s, s, -c, x, y)} Tm {shown} Tj ET"
    )


def _path_operators(points: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{_number_text(*q)} {'l' if n else 'm'}" for n, q in enumerate(points))


def _circle_operators(x: float, y: float, r: float) -> str:
    k = r * 0.5522847
    return (
        f"{_number_text(x + r, y)} m {_number_text(x + r, y + k, x + k, y + r, x, y + r)} c "
        f"{_number_text(x - k, y + r, x - r, y + k, x - r, y)} c "
        f"{_number_text(x - r, y - k, x - k, y - r, x, y - r)} c "
        f"{_number_text(x + k, y - r, x + r, y - k, x + r, y)} c h"
    )


def _moved_shape(p: Prim, x: float, y: float) -> Prim:
    if "points" in p:
        return {**p, "points": [[q[0] + x, q[1] + y] for q in p["points"]]}
    return {**p, "at": [p["at"][0] + x, p["at"][1] + y]}


def _number_text(*values: float) -> str:
    return " ".join(f"{v:.4f}".rstrip("0").rstrip(".") if v else "0" for v in values)


def _colour_numbers(value: str) -> str:
    return _number_text(*(int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)))


def _string_bytes(text: str) -> bytes:
    raw = text.encode("cp1252", "replace")
    return b"(" + raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


def _stream_bytes(content: bytes, head: str) -> bytes:
    packed = zlib.compress(content, 9)
    return (
        f"<< {head} /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        + packed
        + b"\nendstream"
    )


def _file_bytes(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for n, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{n} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{o:010} 00000 n \n".encode() for o in offsets)
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
        f"startxref\n{start}\n%%EOF\n"
    ).encode()
    return bytes(out)
