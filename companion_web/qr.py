"""QR codes: for the page as SVG without styles, for the terminal in block characters."""

from __future__ import annotations

import io

import segno


def svg_code(link: str) -> bytes:
    """Dark modules on white with the quiet zone that the standard requires; the page scales it."""
    out = io.BytesIO()
    segno.make(link, error="m", micro=False).save(
        out,
        kind="svg",
        border=4,
        dark="#000",
        light="#fff",
        omitsize=True,
        xmldecl=False,
        svgclass=None,
        lineclass=None,
    )
    return out.getvalue()


def terminal_code(link: str) -> str:
    """A QR code in block characters."""
    out = io.StringIO()
    segno.make(link, error="l", micro=False).terminal(out, compact=True, border=2)
    return out.getvalue()
