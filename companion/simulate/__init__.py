"""Simulated tables: for the demo, and for measuring how well reading works on unseen copies.

    python -m companion.simulate GAME OUTDIR [--seed N] [--edition K] [--no-markers] [--turned]
                              [--photos 14]
    python -m companion.simulate - OUTDIR --plan FILE    # any plan, also without an engine

writes a complete copy (docs/contracts.md, Copies): copy.toml, empty-1/2, sampler-1/2, test/NN.jpg
with test/NN.json. Edition 0 is the project's own art, odd editions have other colours and swap
signs, even ones have signs of their own; editions also differ in table, camera and resolution,
seeds in camera, light and layouts. The same arguments give the same pictures. Then:

    nilometer calibrate OUTDIR && nilometer read OUTDIR OUTDIR/test/*.jpg --json

In code: `Director` is a whole table with hands and camera; `Tabletop` lays layouts on a table and
gives scenes, `hardware.film.Film` films them, `make_copy` writes copies.
"""

from companion.simulate.copies import Conditions, art_for, make_copy, plan_of
from companion.simulate.director import Director
from companion.simulate.editions import art_edition
from companion.simulate.samples import full_samplers, random_layout
from companion.simulate.tabletop import Tabletop

__all__ = [
    "Conditions",
    "Director",
    "Tabletop",
    "art_for",
    "art_edition",
    "make_copy",
    "plan_of",
    "random_layout",
    "full_samplers",
]
