"""nilometer watch COPY --frames DIR [--start FILE.play] [--declare FILE] --json: verdicts frame by
frame (docs/contracts.md, Commands)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from companion.explain.verdict import ILLEGAL, UNCLEAR, Verdict
from companion.fault import Fault
from companion.runtime.beginning import beginning_state, read_text, scripted_state
from companion.runtime.copies import open_copy
from companion.runtime.eye import Eye
from companion.table.table import Refused, Table
from engine import BadText, script
from vision.evidence.site_evidence import NoBoard
from vision.storage.photo_file import BadPhoto, load_photo

PICTURES = {".jpg", ".jpeg", ".png"}


def declared_acts(path: str | None) -> dict[str, list[str]]:
    """frame (file name without extension) -> the actions declared right after it. Raises Fault,
    naming file and line."""
    out: dict[str, list[str]] = {}
    if path is None:
        return out
    for n, line in script.script_lines(read_text(path)):
        m = re.match(r"^(\S+)\s+(\S+:.*)$", line)
        if not m:
            raise Fault(f"{path}:{n}: not a declared act (`03 lion: commit 2`): {line}")
        out.setdefault(Path(m[1]).stem, []).append(m[2])
    return out


@click.command()
@click.argument("copy", type=click.Path())
@click.option(
    "--frames",
    required=True,
    type=click.Path(),
    help="a folder of pictures, one look each, in name order",
)
@click.option("--start", type=click.Path(), help="a .play file: game, seats, options, position")
@click.option(
    "--declare",
    type=click.Path(),
    help="lines such as `03 lion: commit 2`: said right after that frame",
)
@click.option("--journal", type=click.Path(), help="keep the game in this file")
@click.option("--json", "as_json", is_flag=True, help="one JSON line a frame")
def command(
    copy: str,
    frames: str,
    start: str | None,
    declare: str | None,
    journal: str | None,
    as_json: bool,
) -> int:
    """Verdicts on a game photographed frame by frame."""
    from companion.table.journal import Journal

    specimen = open_copy(copy)
    acts = declared_acts(declare)
    folder = Path(frames)
    if not folder.is_dir():
        raise Fault(f"{frames}: no such folder")
    pictures = sorted(p for p in folder.iterdir() if p.suffix.lower() in PICTURES)
    if not pictures:
        raise Fault(f"{frames}: no pictures in it")
    kept = Journal(journal) if journal else None
    if kept is not None:
        click.get_current_context().call_on_close(kept.close)
        kept.keep_to_oneself()
    table = Table(
        scripted_state(start, specimen) if start else beginning_state(specimen),
        kept,
        specimen.rules_plan,
    )
    eye, failed = Eye(specimen.reader), False
    for path in pictures:
        said: list[str] = []
        try:
            image = load_photo(path)
            view = eye.single(image)
            verdict = table.look(view, image if journal else None)
            out = verdict_line(verdict, path.name)
            out["registration"] = {
                "by": view.registration.by,
                "error_px": round(view.registration.error_px, 2),
            }
        except (NoBoard, BadPhoto) as e:
            failed = failed or isinstance(e, BadPhoto)
            out = verdict_line(table.verdict, path.name) | {
                "verdict": "busy",
                "actions": [],
                "error": str(e),
            }
        for act in acts.pop(path.stem, []):
            try:
                table.declare(act, "declared")
                said.append(act)
            except (Refused, BadText) as e:
                click.echo(f"nilometer: {declare}: after {path.name}: {act}: {e}", err=True)
                failed = True
        if said:
            out["declared"] = said
        click.echo(json.dumps(out, ensure_ascii=False) if as_json else _verdict_words(out))
    for stem in acts:
        click.echo(f"nilometer: {declare}: no frame called {stem}", err=True)
        failed = True
    return 1 if failed else 0


def verdict_line(verdict: Verdict, frame: str) -> dict[str, Any]:
    """A verdict as `nilometer watch` prints it (docs/contracts.md, Commands)."""
    state = verdict.state
    illegal = verdict.verdict == ILLEGAL
    q = None if illegal else verdict.question
    out: dict[str, Any] = {
        "frame": frame,
        "verdict": verdict.verdict,
        "actions": [str(a) for a in verdict.news] if verdict.certain and not illegal else [],
        "scores": state.scores(),
        "turn": state.turn,
        "layout": {s: list(c) for s, c in state.layout().items()},
        "todo": [str(t.text) for t in verdict.todo],
        "violations": [{"rule": v.rule, "text": str(v.text)} for v in verdict.violations],
        "question": None
        if q is None
        else {"seat": q.seat, "text": str(q.text), "answers": [str(a.text) for a in q.answers]},
    }
    if illegal:
        out["back"] = [str(t) for t in verdict.back]
        out["tried"] = [str(a) for a in verdict.actions]
    if not verdict.certain and not illegal:
        out["supposed"] = [str(a) for a in verdict.news]
    if verdict.undo > len(verdict.redone):
        out["undone"] = verdict.undo - len(verdict.redone)
    if verdict.verdict == UNCLEAR:
        out["why"] = str(verdict.text)
    return out


def _verdict_words(out: dict) -> str:
    tail = "; ".join(
        out["actions"] + out["todo"] + [f"{v['rule']} {v['text']}" for v in out["violations"]]
    )
    return f"{out['frame']}: {out['verdict']}" + (f": {tail}" if tail else "")
