"""nilometer samplers FOLDER: what to lay out for a calibration, as pictures and as the layouts that
`calibrate` reads."""

from __future__ import annotations

import json
from pathlib import Path

import click

from calibration.copy import game_plan
from calibration.files import write_whole
from cli.language import language_option
from companion.fault import Fault
from companion.setup.layout_sheet import layout_sheet
from companion.setup.sampler_layouts import sampler_layouts
from companion_web.catalogue import text_writer
from vision.plan import BadPlan, load_plan


@click.command()
@click.argument("folder", type=click.Path())
@click.option("--game", help="take this game's plan, where the folder has no plan.toml")
@click.option("--seed", default=1, show_default=True, help="another number, another layout")
@language_option
def command(folder: str, game: str | None, seed: int, language: str) -> int:
    """What to lay where: FOLDER/sampler-1.json, sampler-2.json and samplers.html with pictures of
    them."""
    out = Path(folder)
    own = out / "plan.toml"
    if not own.is_file() and game is None:
        raise Fault(
            f"{own}: not there; name the game with --game, or write the board's plan "
            f"(docs/manual/own-board.md)"
        )
    try:
        plan = game_plan(game) if game is not None and not own.is_file() else load_plan(own)
    except BadPlan as e:
        raise Fault(str(e)) from None
    layouts = sampler_layouts(plan, seed)
    taken = [
        p for p in (out / f"sampler-{n}.json" for n in range(1, len(layouts) + 1)) if p.exists()
    ]
    if taken:
        raise Fault(f"{taken[0]}: exists already, and a photo may belong to it: not overwritten")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for n, layout in enumerate(layouts, 1):
            write_whole(
                out / f"sampler-{n}.json",
                (json.dumps(layout, ensure_ascii=False, indent=0) + "\n").encode(),
            )
        page = out / "samplers.html"
        sheet = layout_sheet(plan, layouts, language, text_writer(language))
        write_whole(page, sheet.encode())
    except OSError as e:
        raise Fault(f"{out}: {e.strerror}") from None
    pieces = sum(len(c) for layout in layouts for c in layout.values())
    click.echo(
        f"{page}: {len(layouts)} layouts, {pieces} pieces to lay; their photos belong "
        f"beside it, as sampler-1.jpg and so on"
    )
    return 0
