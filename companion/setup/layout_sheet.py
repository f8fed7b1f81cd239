"""What to lay out for a calibration, as a sheet to keep next to the board: a picture of each
sampler, and the same in words."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import engine
from calibration.copy import game_plan
from companion.printing.board_drawing import board_drawing, piece_namer
from companion.setup.sampler_layouts import sampler_layouts
from companion.simulate.samples import SampleLayout
from engine.text import Text, say
from vision.plan import Plan

SVG = "xmlns='http://www.w3.org/2000/svg'"
STYLE = """body{font:16px system-ui,sans-serif;margin:1rem;max-width:60rem}
svg{width:100%;height:auto;background:#efe9dc}
dt{font-weight:600;float:left;min-width:4rem}dd{margin:0 0 .2rem 4rem}"""
OUTLINE = "fill='none' stroke='#8a8172' stroke-width='.6'"
# how far up each piece of a pile is drawn above the one below it, as a share of its width
HIGHER = 0.16


def layout_sheet(
    plan: Plan,
    layouts: Sequence[SampleLayout],
    language: str = "en",
    words: Callable[[Text], str] = str,
) -> str:
    """A self-contained HTML page. words: translates a text into `language`."""
    made, name = board_drawing(plan.game, plan), piece_namer(plan.game)

    def in_words(layout: SampleLayout) -> str:
        return "".join(
            f"<dt>{html.escape(site)}<dd>{html.escape(', '.join(words(name(k)) for k in contents))}"
            for site, contents in layout.items()
        )

    parts = [
        f"<h2>sampler-{n}</h2>{layout_picture(made, layout)}<dl>{in_words(layout)}</dl>"
        for n, layout in enumerate(layouts, 1)
    ]
    title = html.escape(words(say("{game}: what to lay out for the photos", game=_title_of(plan))))
    task = words(
        say(
            "Photograph the empty board first, twice in different light. Then lay these out, as"
            " untidily as in play, take your hands away, and photograph each."
        )
    )
    return (
        f"<!doctype html><html lang={language}><meta charset=utf-8><meta name=viewport "
        f"content='width=device-width'><title>{title}</title>"
        f"<style>{STYLE}</style><h1>{title}</h1><p>{html.escape(task)}</p>{''.join(parts)}</html>\n"
    )


def _title_of(plan: Plan) -> Text | str:
    try:
        return engine.game(plan.game).title
    except engine.UnknownGame:
        return plan.game


def layout_picture(made: Mapping[str, Any], layout: SampleLayout) -> str:
    """SVG of the board with a layout on it, in a page or as a file. made: from
    companion.printing.board_drawing."""
    w, h = made["size"]
    out = [shape_svg(s) for s in made["board"]]
    out += [
        f"<path d='{d}' {OUTLINE}/>" for site in made["sites"].values() for d in site["outlines"]
    ]
    # A piece that covers several sites is drawn above pieces on its neighbours.
    for site, contents in sorted(
        layout.items(), key=lambda lying: any(made["pieces"][k]["spans"] for k in lying[1])
    ):
        out += pile_shapes(made, made["sites"][site], contents)
    return f"<svg {SVG} viewBox='0 0 {w:g} {h:g}' role='img'>{''.join(out)}</svg>"


@cache
def game_picture(name: str) -> str:
    """SVG of a game's board with some of its pieces, so that people recognise it."""
    plan = game_plan(engine.game(name).name)
    return layout_picture(board_drawing(name, plan), sampler_layouts(plan)[0])


def pile_shapes(
    made: Mapping[str, Any], site: Mapping[str, Any], contents: Sequence[str]
) -> list[str]:
    """The pieces of one site, bottom first; loose ones side by side"""
    x, y, w, h = site["box"]
    out, loose, up = [], list(site.get("spots", ())), 0.0
    for kind in contents:
        piece = made["pieces"][kind]
        at, scale = (x + w / 2, y + h / 2 - up), 1.0
        if piece["spans"]:
            at = x + w * piece["spans"][0] / 2, y + h * piece["spans"][1] / 2
        elif loose and not piece["first"]:
            at, scale = loose.pop(0), site["scale"]
        else:
            up += HIGHER * max(piece["size"])
        drawing = "".join(shape_svg(s) for s in piece["shapes"])
        out.append(f"<g transform='translate({at[0]:g} {at[1]:g}) scale({scale:g})'>{drawing}</g>")
    return out


def shape_svg(s: Mapping[str, Any]) -> str:
    """SVG of one shape of a drawing"""
    paint = f"fill='{html.escape(s.get('f', 'none'))}'"
    if "s" in s:
        paint += f" stroke='{html.escape(s['s'])}' stroke-width='{s['w']:g}'"
    if "c" in s:
        x, y, r = s["c"]
        return f"<circle cx='{x:g}' cy='{y:g}' r='{r:g}' {paint}/>"
    if "d" in s:
        return f"<path d='{s['d']}' {paint}/>"
    x, y = s["at"]
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{s['size']:g}' text-anchor='middle' "
        f"dominant-baseline='central' {paint} "
        f"transform='rotate({s['turn']:g} {x:g} {y:g})'>{html.escape(str(s['t']))}</text>"
    )
