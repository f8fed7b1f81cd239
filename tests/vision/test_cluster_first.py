"""Which cards samplers show."""

from __future__ import annotations

import importlib.resources

import numpy as np

from vision.cluster_first import cards_of
from vision.plan import load_plan
from vision.shot import Shot


def kinds(layout):
    plan = load_plan(importlib.resources.files("engine.nile") / "plan.toml")
    (cards,) = cards_of(plan, [Shot(np.zeros((8, 8, 3), np.uint8), layout, None, "sampler-1")]).values()
    return {(site, kind) for _, site, kind in cards}


def test_a_card_that_only_its_stock_shows_is_learnt_there():
    assert kinds({"L2.2": ["cover"], "desert-stock": ["desert"]}) == {("L2.2", "cover"), ("desert-stock", "desert")}


def test_a_stock_teaches_nothing_that_a_cluster_shows():
    assert kinds({"L2.2": ["desert"], "desert-stock": ["desert"]}) == {("L2.2", "desert")}
