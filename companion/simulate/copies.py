"""Complete copies as people would photograph their own (docs/contracts.md, Copies), from the
simulated camera."""

from __future__ import annotations

import importlib.resources
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

import cv2

from companion.simulate.editions import art_edition as other_edition
from companion.simulate.samples import SampleLayout, full_samplers, random_layout
from companion.simulate.tabletop import Tabletop
from engine.art import Art, BadArt, load_art, plain_art
from hardware.film import Film, through_jpeg
from hardware.scene import Light, View, look_down
from vision.plan import Plan, load_plan
from vision.storage.photo_file import encode_photo

RESOLUTIONS = ((1640, 1232), (1024, 768), (1280, 960), (1920, 1080), (2304, 1296), (2592, 1944))
TABLES = (
    ("wood", "#8a6248"),
    ("wood", "#5c4232"),
    ("cloth", "#41604f"),
    ("plain", "#b8b4aa"),
    ("wood", "#c09a6a"),
)


@dataclass(frozen=True)
class Conditions:
    """What differs between copies. edition: see companion.simulate.editions; turned: seen from the
    opposite side."""

    seed: int = 0
    edition: int = 0
    markers: bool = True
    turned: bool = False
    resolution: tuple[int, int] | None = None
    sloppiness: float = 1.0
    tap_error: float = 4.0  # error of tapped corners in pixels, standard deviation
    phone: bool = True  # photographed by phone; otherwise by the table's own camera during set-up

    def look(self, plan: Plan) -> View:
        """The camera: in a standard position for the first copy (seed 0), in any sensible one for
        others."""
        rng = random.Random(self.seed * 31 + 5)
        return look_down(
            plan.size,
            self.resolution or (RESOLUTIONS[0] if not self.edition else rng.choice(RESOLUTIONS)),
            tilt=rng.uniform(3, 13),
            azimuth=rng.choice([70, 90, 110, 90, 30, 150]),
            fill=rng.uniform(0.9, 0.97),
            turn=(180 if self.turned else 0) + rng.gauss(0, 1.5),
            field_of_view=rng.uniform(55, 72),
            k1=rng.uniform(-0.09, 0.02),
            margin=46 if self.markers else 12,
            vignette=rng.uniform(0.1, 0.4),
            blur=rng.uniform(0.5, 1.1),
            noise=rng.uniform(1.2, 3.5),
        )

    def table(self, plan: Plan) -> Tabletop:
        """The specimen described by these conditions: its print, its table, and its cards as they
        were taped."""
        rng = random.Random(self.seed * 1009 + self.edition)
        table, tint = TABLES[0] if not self.edition else rng.choice(TABLES)
        return Tabletop(
            plan,
            other_edition(art_for(plan), self.edition),
            rng.randrange(1 << 30),
            self.sloppiness,
            self.markers,
            table,
            tint,
            paper=rng.uniform(0.2, 0.8) if not self.edition else rng.choice([0.3, 1.0, 2.5, 4.0]),
            grain=0.0 if not self.edition else rng.choice([0.0, 0.5, 2.0, 4.0]),
        )

    def light(self, rng: random.Random) -> Light:
        """The light in the room, different for each photo."""
        return Light(
            lamp=(rng.uniform(-600, 600), rng.uniform(-700, 300), rng.uniform(700, 1300)),
            size=rng.uniform(80, 300),
            ambient=rng.uniform(0.45, 0.75),
            exposure=rng.uniform(0.8, 1.1),
            warmth=rng.uniform(-0.25, 0.4),
            shadow=rng.uniform(0.25, 0.55),
            gloss=rng.uniform(0.0, 0.18),
        )


def art_for(plan: Plan) -> Art:
    """The drawings of the plan's game; letters and colours for a plan without an engine."""
    try:
        return load_art(plan.game)
    except BadArt:
        return plain_art()


def make_copy(
    plan: Plan,
    folder: str | Path,
    conditions: Conditions,
    photos: int = 14,
    plan_file: Path | None = None,
) -> Path:
    """Writes copy.toml, empty-1/2, sampler-1/2 and test/NN, each .jpg with its .json; returns the
    folder.

    Every fifth test picture is taken after somebody bumped the camera. plan_file: included as the
    copy's own plan.
    """
    folder = Path(folder)
    (folder / "test").mkdir(parents=True, exist_ok=True)
    rng = random.Random(conditions.seed * 1009 + conditions.edition)
    rules, top = art_for(plan).data.get("lie", ()), conditions.table(plan)
    view, film = conditions.look(plan), Film(conditions.seed)
    first: list[tuple[SampleLayout, str]] = [({}, "empty-1"), ({}, "empty-2")]
    first += [
        (layout, f"sampler-{n}") for n, layout in enumerate(full_samplers(plan, rules, rng), 1)
    ]
    for layout, name in first:
        _write_photo(
            folder / name, top, layout, film, view, conditions.light(rng), conditions.phone
        )
    for n in range(1, photos + 1):
        if n % 5 == 0:
            view = view.moved(
                [rng.gauss(0, 0.6), rng.gauss(0, 0.6), rng.gauss(0, 0.9)],
                [rng.gauss(0, 3) for _ in range(3)],
            )
        _write_photo(
            folder / "test" / f"{n:02}",
            top,
            random_layout(plan, rules, rng),
            film,
            view,
            conditions.light(rng),
            conditions.phone,
        )
    if plan_file:
        (folder / "plan.toml").write_bytes(plan_file.read_bytes())
    (folder / "copy.toml").write_text(
        _copy_toml(plan, conditions, [name for _, name in first], rng, plan_file is not None)
    )
    return folder


def _write_photo(
    path: Path, top: Tabletop, layout: dict, film: Film, view: View, light: Light, phone: bool
) -> None:
    top.lay({})
    top.lay(layout)
    # A camera adjusts its exposure: pictures are neither black nor overexposed.
    dim = film.take(top.scene(), view, light, noise=0)
    light = replace(light, exposure=light.exposure * min(1.25, 118 / max(float(dim.mean()), 1)))
    picture, to = film.take(top.scene(), view, light), path.with_suffix(".jpg")
    if phone:
        cv2.imwrite(str(to), through_jpeg(picture, 92), [cv2.IMWRITE_JPEG_QUALITY, 90])
    else:
        kept = encode_photo(picture)
        assert kept is not None
        to.write_bytes(kept)
    path.with_suffix(".json").write_text(json.dumps(layout, indent=0) + "\n")


def _copy_toml(
    plan: Plan, conditions: Conditions, names: list[str], rng: random.Random, own_plan: bool
) -> str:
    view = conditions.look(plan)
    lines = [
        f'game = "{plan.game}"',
        f'name = "simulated {plan.game}, edition {conditions.edition}, seed {conditions.seed}"',
    ]
    if own_plan:
        lines.append('plan = "plan.toml"')
    lines.append(f"markers = {str(conditions.markers).lower()}")
    for name in names:
        lines += ["", "[[photo]]", f'file = "{name}.jpg"', f'layout = "{name}.json"']
        if not conditions.markers:
            taps = [
                [round(float(v) + rng.gauss(0, conditions.tap_error), 1) for v in p]
                for p in view.to_px(plan.corners)
            ]
            lines.append(f"corners = {taps}")
    return "\n".join(lines) + "\n"


def plan_of(game: str, plan_file: str | None) -> tuple[Plan, Path | None]:
    """The plan of a game, or of a file."""
    if plan_file:
        return load_plan(plan_file), Path(plan_file)
    with importlib.resources.as_file(
        importlib.resources.files(f"engine.{game}") / "plan.toml"
    ) as path:
        return load_plan(path), None
