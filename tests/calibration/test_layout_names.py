"""Names in layouts: however an editor writes their dots and strokes, they are the plan's; others
are named in one line."""

from __future__ import annotations

import json
import unicodedata

import pytest

from calibration.copy import BadCopy, check_layout, load_copy, read_layout
from vision.plan import BadPlan, parse_plan

SQUARE = [[0, 0], [20, 0], [20, 20], [0, 20]]
ASIDE = [[-40, 0], [-20, 0], [-20, 20], [-40, 20]]


def plan_of(form):
    return parse_plan(
        json.loads(
            unicodedata.normalize(
                form,
                json.dumps(
                    {
                        "game": "own",
                        "size": [100, 100],
                        "piece": [{"kind": k, "size": 9} for k in ("U", "Ü", "u", "İ", "I")],
                        "site": [
                            {"id": "Ö 1", "outline": SQUARE},
                            {"id": "Ablage", "outline": ASIDE},
                        ],
                    },
                    ensure_ascii=False,
                ),
            )
        )
    )


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_dots_written_with_their_letter_or_after_it_are_the_same_and_read_as_the_plan_writes_them(
    form, written
):
    plan = plan_of(form)
    layout = json.loads(unicodedata.normalize(written, '{"Ö 1": ["Ü"], "Ablage": ["İ"]}'))
    assert check_layout(layout, plan, "l.json") == {
        unicodedata.normalize(form, "Ö 1"): (unicodedata.normalize(form, "Ü"),),
        "Ablage": (unicodedata.normalize(form, "İ"),),
    }


def test_kinds_that_differ_in_case_or_in_dots_are_different_ones():
    assert check_layout({"Ö 1": ["u"], "Ablage": ["U", "I"]}, plan_of("NFC"), "l.json") == {
        "Ö 1": ("u",),
        "Ablage": ("U", "I"),
    }


def test_two_kinds_that_differ_only_in_how_their_dots_are_written_are_one():
    with pytest.raises(BadPlan, match="Ü stands twice"):
        parse_plan(
            {
                "game": "own",
                "size": [100, 100],
                "site": [{"id": "a", "outline": SQUARE}],
                "piece": [{"kind": k, "size": 9} for k in ("U\u0308", "\u00dc")],
            }
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"Ö 2": ["U"]}', "site 'Ö 2' is not in the plan"),
        ('{"ablage": ["U"]}', "site 'ablage' is not in the plan; 'Ablage' is meant?"),
        ('{"Ö 1": ["X"]}', "Ö 1: kind 'X' is not in the plan"),
        ('{"Ö 1": ["U"], "Ö 1": ["Ü"]}', "'Ö 1' stands twice"),
        ('{"Ö 1": ["U"], "O\u0308 1": ["Ü"]}', "site Ö 1 stands twice"),
    ],
)
def test_a_layout_that_does_not_fit_the_plan_is_refused_in_one_line(tmp_path, text, words):
    file = tmp_path / "sampler.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadCopy) as said:
        read_layout(file, plan_of("NFC"))
    assert (
        str(said.value).startswith(f"{file}: ")
        and str(said.value).endswith(words)
        and "\n" not in str(said.value)
    )


def test_a_plan_without_pieces_is_named(tmp_path):
    (tmp_path / "plan.toml").write_text(
        'game = "own"\nsize = [100, 100]\n[[site]]\nid = "a"\noutline = [[0, 0], [9, 0], [9, 9]]\n'
    )
    (tmp_path / "copy.toml").write_text('game = "own"\n')
    with pytest.raises(BadCopy, match=r"plan\.toml: no \[\[piece\]\]"):
        load_copy(tmp_path)
