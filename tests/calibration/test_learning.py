"""Learning at the table: what is put aside, what the guard refuses, and that undoing restores the
model bit for bit."""

import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from calibration import learning
from calibration.copy import BadCopy
from vision.evidence.site_evidence import FLOOR, SiteEvidence

PHOTOS = Path(__file__).resolve().parent.parent / "photos" / "tigris"


class Reads:
    """A reader that finds in a picture what its upper left pixel says, with some surety. confused:
    site -> what it takes it for"""

    def __init__(self, layouts, surety, confused=None):
        self.layouts, self.surety, self.confused = layouts, surety, confused or {}
        self.registrar = SimpleNamespace(locate=lambda image: None)

    def read_sites(self, image, pose):
        layout = self.layouts[int(image[0, 0, 0]) // 20]
        seen = {s: self.confused.get(s, tuple(c)) for s, c in layout.items()}
        return {s: SiteEvidence(((c, math.log(self.surety)),), FLOOR) for s, c in seen.items()}

    def save(self, path):
        Path(path).write_bytes(b"new")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A copy with a model, its calibration photos stood in for by one grey picture, and four kept
    views of two layouts"""
    folder = tmp_path / "copy"
    shutil.copytree(PHOTOS, folder, ignore=shutil.ignore_patterns("test", "game"))
    (folder / "model.npz").write_bytes(b"old model")
    layouts = {0: {"A1": ["farm"]}, 3: {"B2": ["temple"]}, 6: {"C3": ["market"]}}
    shot = learning.Shot(
        np.zeros((300, 400, 3), np.uint8), {"A1": ("farm",)}, None, "sampler-1.jpg"
    )
    monkeypatch.setattr(learning, "shots_of", lambda copy: (None, [shot]))
    monkeypatch.setattr(learning, "kinds_shown", lambda shots, copy: set(copy.plan.pieces))
    monkeypatch.setattr(learning.Reader, "load", lambda path, plan=None: Reads(layouts, 0.9))
    for n in (3, 6, 3, 6):
        learning.keep_view(folder, np.full((300, 400, 3), 20 * n + 10, np.uint8), layouts[n])
    return SimpleNamespace(folder=folder, layouts=layouts)


def test_surer_is_learnt_and_undone_bit_for_bit(table):
    found = learning.learn_from_views(
        table.folder, lambda plan, registrar, shots: Reads(table.layouts, 0.99)
    )
    assert found.why.endswith(
        "to what lies in the others it now gives 99.00 % where it gave 90.00 %"
    )
    assert found.learnt and (table.folder / "model.npz").read_bytes() == b"new"
    learning.undo_learning(table.folder)
    assert (table.folder / "model.npz").read_bytes() == b"old model" and not (
        table.folder / "table"
    ).exists()
    with pytest.raises(BadCopy, match="undone"):
        learning.undo_learning(table.folder)


@pytest.mark.parametrize(
    "surety, confused, why",
    [
        (0.99, {"A1": ("temple",)}, "A1 of sampler-1.jpg"),
        (0.99, {"C3": ("temple",)}, "C3 of table"),
        (0.8, {}, "more doubt"),
    ],
)
def test_the_guard_refuses_what_is_worse(table, surety, confused, why):
    found = learning.learn_from_views(
        table.folder, lambda plan, registrar, shots: Reads(table.layouts, surety, confused)
    )
    assert not found.learnt and why in found.why
    assert (table.folder / "model.npz").read_bytes() == b"old model" and not (
        table.folder / "model-before.npz"
    ).exists()


def test_where_one_half_may_not_teach_the_other_has_its_turn(table):
    taught = []

    def fit(plan, registrar, shots):
        taught.append([s.name for s in shots if s.name.startswith("table/")])
        return Reads(table.layouts, 0.8 if len(taught) == 1 else 0.99)

    assert learning.learn_from_views(table.folder, fit).learnt
    assert taught == [["table/01.jpg", "table/03.jpg"], ["table/02.jpg", "table/04.jpg"]]


def test_poisoned_views_are_left_out(table):
    for path in (table.folder / "table").glob("*.json"):
        path.write_text(
            json.dumps(
                {
                    s: ["settlement"] if s != "C3" else ["temple"]
                    for s in json.loads(path.read_text())
                }
            )
        )
    (table.folder / "table" / "01.json").write_text("{")
    found = learning.learn_from_views(
        table.folder, lambda *a: pytest.fail("nothing is left to learn from")
    )
    assert not found.learnt and len(found.left_out) == 4


def test_a_view_read_with_doubt_is_learnt_from_and_one_read_wholly_otherwise_is_not(
    table, monkeypatch
):
    class Doubts(Reads):
        def read_sites(self, image, pose):
            return {
                s: SiteEvidence(
                    ((("settlement",), math.log(1 - self.surety)), (e.best, math.log(self.surety))),
                    FLOOR,
                )
                for s, e in super().read_sites(image, pose).items()
            }

    for least, used in ((0.3, 4), (0.01, 0)):
        monkeypatch.setattr(
            learning.Reader,
            "load",
            lambda path, plan=None, given=least: Doubts(table.layouts, given),
        )
        found = learning.learn_from_views(
            table.folder, lambda plan, registrar, shots: Reads(table.layouts, 0.99)
        )
        assert found.learnt == bool(used) and len(found.left_out) == 4 - used


def test_only_so_many_views_are_kept(table):
    for n in (0, 3, 6):
        learning.keep_view(table.folder, np.full((300, 400, 3), 20 * n, np.uint8), table.layouts[n])
    names = sorted(p.name for p in (table.folder / "table").iterdir())
    assert names == [f"{n:02d}.{e}" for n in (1, 2, 3, 4) for e in ("jpg", "json")]
    assert (
        learning.keep_view(table.folder, np.zeros((300, 400, 3), np.uint8), {"D4": ["farm"]}, "03")
        == "03"
    )
    assert json.loads((table.folder / "table" / "03.json").read_text()) == {"D4": ["farm"]}
