"""nilometer read COPY PHOTO... --json: one JSON line per photo (docs/contracts.md, Commands)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import numpy as np

from companion.runtime.copies import open_copy
from companion.setup.mirrored import shows_mirrored_cards
from vision.evidence.site_evidence import Evidence, NoBoard
from vision.geometry.pose import Pose
from vision.plan import Plan
from vision.storage.photo_file import BadPhoto, load_photo

LEFT = 0.05  # the least probability not covered by the listed contents that is reported
OUTSIDE = 0.02  # of the picture's size, by which a site may extend beyond it


def reading_line(photo: str, evidence: Evidence, ms: float) -> dict:
    """A reading in the form in which the command prints it."""
    r = evidence.registration
    board = {"by": r.by, "error_px": round(r.error_px, 2)} | (
        {"maybe_turned": True} if r.maybe_turned else {}
    )
    return {
        "photo": photo,
        "layout": {s: list(c) for s, c in evidence.layout().items()},
        "unsure": evidence.unsure(),
        "registration": board,
        "ms": round(ms, 1),
        **({"busy": evidence.busy} if evidence.busy else {}),
    }


def places_outside(plan: Plan, pose: Pose) -> list[str]:
    """The sites that a picture shows in part or not at all."""
    size = np.array(pose.size)

    def is_outside(outline: np.ndarray) -> bool:
        px = pose.to_px(outline)
        return bool(((px < -OUTSIDE * size) | (px > (1 + OUTSIDE) * size)).any())

    return [site.id for site in plan.site if is_outside(site.outlines[0])]


@click.command()
@click.argument("copy", type=click.Path())
@click.argument("photos", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="one JSON line a photo")
def command(copy: str, photos: tuple[str, ...], as_json: bool) -> int:
    """What lies on the board in photos."""
    reader = open_copy(copy).reader
    failed, pose = False, None
    for name in photos:
        photo = Path(name).name
        try:
            image = load_photo(name)
            start = time.perf_counter()
            # most cameras have not moved since the previous photo
            pose, evidence = reader.find_and_read(image, pose)
            out = reading_line(photo, evidence, 1000 * (time.perf_counter() - start))
            if evidence.registration.by != "markers" and shows_mirrored_cards(image):
                pose = None
                raise NoBoard("the picture is mirrored: what is printed runs backwards in it")
            if outside := places_outside(reader.plan, pose):
                out["outside"] = outside
        except (NoBoard, BadPhoto) as e:
            failed = True
            out = {"photo": photo, "error": str(e).removeprefix(f"{name}: ")}
        click.echo(json.dumps(out, ensure_ascii=False) if as_json else _text_table(out))
    return 1 if failed else 0


def _text_table(out: dict) -> str:
    if "error" in out:
        return f"{out['photo']}: {out['error']}"
    r = out["registration"]
    lines = [
        f"{out['photo']}: {len(out['layout'])} sites occupied, board found by {r['by']} "
        f"to {r['error_px']} px, "
        f"{out['ms']} ms"
    ]
    if r.get("maybe_turned"):
        lines.append("  the board may lie turned round: it looks the same both ways")
    if outside := out.get("outside"):
        lines.append(f"  outside the picture: {len(outside)} sites, {', '.join(outside[:6])} ...")
    lines += [f"  {site}: {' '.join(contents)}" for site, contents in out["layout"].items()]
    for site, options in out["unsure"].items():
        named = [(" ".join(c) or "empty", p) for c, p in options]
        rest = 1 - sum(p for _, p in named)
        named += [("anything else", rest)] if rest > LEFT else []
        lines.append(
            f"  unsure {site}: "
            + ", ".join(f"{what} {100 * p:.0f} %" for what, p in sorted(named, key=lambda t: -t[1]))
        )
    return "\n".join(lines)
