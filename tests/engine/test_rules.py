"""The ledgers' numbers and sentences."""

import re
from importlib import resources

import pytest

import engine
from engine import Text, say
from engine.rules import load_rules, rules_passage, source_text, uncovered_rules
from engine.text import pack_text

FIRST_AND_LAST = {
    "tigris": ("T1", "T65"),
    "ur": ("U1", "U"),
    "nile": ("N1", "N"),
    "deluge": ("D1", "D"),
}


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_every_statement_of_the_ledger_is_read(game):
    ledger = resources.files(f"engine.{game}").joinpath("rules.md").read_text(encoding="utf-8")
    there = load_rules(game)
    assert len(there) == sum(
        line.startswith("- " + next(iter(there))[0]) and line[3].isdigit()
        for line in ledger.splitlines()
    )
    first, last = FIRST_AND_LAST[game]
    assert next(iter(there)) == first and list(there)[-1].startswith(last)
    assert all(r.text and r.heading and r.number == n for n, r in there.items())
    assert len(source_text(game)) > 1000


def test_uncovered_numbers():
    everything = " ".join(load_rules("tigris"))
    assert uncovered_rules("tigris", [everything]) == []
    assert uncovered_rules("tigris", [everything.replace("T13 ", " ")]) == ["T13"]
    assert "T1" in uncovered_rules("tigris", ["T13 and AT1"])


def test_every_tigris_number_is_named_by_a_test():
    from pathlib import Path

    here = Path(__file__).resolve().parent
    texts = [p.read_text(encoding="utf-8") for p in (here / "tigris").glob("test_*.py")]
    assert uncovered_rules("tigris", texts) == []


def test_unknown_game():
    with pytest.raises(engine.UnknownGame, match="chess"):
        engine.game("chess")


def test_sentences_are_translated_with_their_arguments():
    piece = say("the green leader of {seat}", seat=say("Lion"))
    text = say("take {piece} off {site}", piece=piece, site="J5")
    assert str(text) == "take the green leader of Lion off J5"
    dutch = {
        "take {piece} off {site}": "neem {piece} van {site}",
        "the green leader of {seat}": "de groene aanvoerder van {seat}",
        "Lion": "Leeuw",
    }
    assert (
        text.translated(lambda t: dutch.get(t, t)) == "neem de groene aanvoerder van Leeuw van J5"
    )
    assert hash(text) == hash(say("take {piece} off {site}", piece=piece, site="J5"))
    assert pack_text({"x": (text, 3)}) == {
        "x": [
            {
                "t": "take {piece} off {site}",
                "a": {
                    "piece": {"t": "the green leader of {seat}", "a": {"seat": {"t": "Lion"}}},
                    "site": "J5",
                },
            },
            3,
        ]
    }
    assert str(Text("{not an argument")) == "{not an argument"


@pytest.mark.parametrize("name", sorted(engine.games()))
def test_a_translated_ledger_has_every_number_and_none_twice(name):
    english, dutch = load_rules(name), load_rules(name, "nl")
    assert list(dutch) == list(english)
    assert all(r.language == "nl" and r.text != english[n].text for n, r in dutch.items())
    references = {n: re.findall(r"[A-Z]\d+", r.text) for n, r in english.items()}
    assert {n: sorted(re.findall(r"[A-Z]\d+", r.text)) for n, r in dutch.items()} == {
        n: sorted(v) for n, v in references.items()
    }
    assert load_rules(name, "xx") == load_rules(name, "../nl") == english


@pytest.mark.parametrize("language", ["de", "fr", "nl"])
@pytest.mark.parametrize("game", sorted(engine.games()))
def test_every_rule_has_words_in_every_language(game, language):
    there, english = load_rules(game, language), load_rules(game)
    assert list(there) == list(english) and {r.language for r in there.values()} == {language}
    assert [r.places for r in there.values()] == [r.places for r in english.values()]
    # places are no part of the sentence
    assert not any(re.search(r"\[[A-Z]", r.text) for r in there.values())
    numbers = re.compile(r"\b[TUND]\d+\b")
    for n, r in there.items():
        wanted = numbers.findall(english[n].text)
        assert sorted(numbers.findall(r.text)) == sorted(wanted), n


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_every_place_is_found_in_the_rules_text(game):
    there = load_rules(game).values()
    assert all(rules_passage(game, place) for r in there for place in r.places)
    assert [r.number for r in there if not r.places and not r.text.startswith("*")] == []
    assert rules_passage(game, "Schaakmat") == ""
