"""Printed sheets: true size, everything in its number, and a PDF that other programs can read."""

import re
import shutil
import subprocess
import zlib
from collections import Counter

import cv2
import numpy as np
import pytest

import engine
from cli.main import cli
from companion.printing.pdf import CAPS, MM, Pdf, text_width, wrapped_lines
from companion.printing.sheets import (
    A4,
    CARD,
    CARD_GAP,
    MARGIN,
    OVERLAP,
    PAPERS,
    board_sheets,
    cut_outs,
    print_document,
)
from companion.simulate import art_for, plan_of
from companion_web.catalogue import language_names, text_writer
from engine.text import Text
from vision.plan import parse_plan

GAMES = ("tigris", "ur", "nile", "deluge")


def streams(pdf: bytes) -> list[str]:
    return [
        zlib.decompress(m[1]).decode("latin-1")
        for m in re.finditer(rb"stream\n(.*?)\nendstream", pdf, re.S)
    ]


def sheets(game, **more):
    plan, _ = plan_of(game, None)
    return plan, print_document(plan, art_for(plan), engine.game(game).title, **more)


def test_the_file_is_well_formed():
    pdf = Pdf("A (title) \\ with signs")
    page = pdf.page(210, 297)
    page.draw(
        [
            {
                "p": "circle",
                "at": [5.0, 5.0],
                "r": 2.0,
                "fill": "#ff0000",
                "stroke": None,
                "width": 0,
            }
        ],
        10,
        10,
    )
    page.stamp(pdf.stamp([], (0, 0, 1, 1)), 5, 5)
    page.text(10, 20, "Größe (mm)")
    data = pdf.to_bytes()
    start = int(re.search(rb"startxref\n(\d+)", data)[1])
    assert data[start:].startswith(b"xref\n0 ")
    for n, entry in enumerate(re.findall(rb"(\d{10}) 00000 n ", data[start:]), 1):
        assert data[int(entry) :].startswith(f"{n} 0 obj".encode())
    assert b"/PrintScaling /None" in data and data == pdf.to_bytes()
    box = [float(v) for v in re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data).groups()]
    assert box == pytest.approx([210 * MM, 297 * MM], abs=0.01)
    assert "(Gr\xf6\xdfe \\(mm\\))" in streams(data)[-1]


def test_text_is_centred_on_its_place():
    assert text_width("0", 5) == pytest.approx(5 / 0.718 * 0.556)
    pdf = Pdf("t")
    pdf.page().draw(
        [
            {
                "p": "text",
                "at": [50.0, 60.0],
                "text": "00",
                "size": 5.0,
                "turn": 0.0,
                "fill": "#000000",
            }
        ]
    )
    x, y = map(
        float, re.search(r"1 0 0 -1 ([\d.]+) ([\d.]+) Tm", streams(pdf.to_bytes())[0]).groups()
    )
    assert (x + text_width("00", 5) / 2, y - 2.5) == pytest.approx((50, 60), abs=1e-3)


def lines_of(pdf):
    """(page, x in mm, text, mm its capitals are high) of each line of text"""
    line = re.compile(r"/T\d ([\d.]+) Tf 1 0 0 -1 ([\d.]+) [\d.]+ Tm \((.*?)\) Tj ET")
    for page in pdf.pages:
        for size, x, text in line.findall(page.content().decode("latin-1")):
            shown = text.encode("latin-1").decode("cp1252").replace("\\", "")
            yield page, float(x), shown, float(size) * CAPS


def test_lines_break_at_spaces_only():
    assert wrapped_lines("one two three", 3, text_width("one two", 3)) == ["one two", "three"]
    assert wrapped_lines("one two\u00a0three", 3, 1) == ["one", "two\u00a0three"]


@pytest.mark.parametrize("paper", sorted(PAPERS))
@pytest.mark.parametrize("language", list(language_names()))
@pytest.mark.parametrize("game", GAMES)
def test_every_language_stays_on_its_sheets(game, language, paper):
    _, pdf = sheets(game, paper=PAPERS[paper], words=text_writer(language))
    for page, x, text, size in lines_of(pdf):
        assert x + text_width(text, size) <= page.width - MARGIN / 2, text


def test_sheets_speak_the_language_asked_for():
    said = {}
    for language in language_names():
        _, pdf = sheets("nile", words=text_writer(language))
        said[language] = {text for _, _, text, _ in lines_of(pdf) if re.search("[a-z]{3}", text)}
    assert {len(lines) > 20 for lines in said.values()} == {True}
    assert not said["en"] & (said["de"] | said["nl"] | said["fr"])
    assert "An den Ufern des Nils: Markerkarten" in said["de"] and "0: linksboven" in said["nl"]
    assert "75 pièces\u00a0: à plier, coller et découper" in said["fr"]


def test_marker_cards_are_36_mm_with_a_rim_that_places_them():
    _, pdf = sheets("tigris", parts=["cards"])
    black = [p for p in pdf.pages[0].drawn if p["p"] == "polygon" and p["fill"] == "#000000"]
    squares = [np.ptp(np.array(p["points"]), 0) for p in black]
    assert sum(1 for s in squares if np.allclose(s, CARD)) == 4
    rims = [p for p in pdf.pages[0].drawn if p["p"] == "polygon" and p["fill"] == "#ffffff"]
    assert (
        sum(1 for p in rims if np.allclose(np.ptp(np.array(p["points"]), 0), CARD + 2 * CARD_GAP))
        == 4
    )


def test_a_marker_card_keeps_its_name_when_it_is_cut_out():
    _, pdf = sheets("tigris", parts=["cards"])
    [sheet] = streams(pdf.to_bytes())
    side = CARD + 2 * CARD_GAP
    found = re.findall(r"1 0 0 -1 ([\d.]+) ([\d.]+) Tm \((\d): ", sheet)
    cards = {}
    for p in pdf.pages[0].drawn:
        if p["p"] == "polygon" and p["fill"] == "#ffffff":
            corners = np.array(p["points"])
            if np.allclose(np.ptp(corners, 0), side):
                cards[tuple(corners.min(0))] = corners.max(0)
    inside = [
        any(np.all([x, y] > np.array(low)) and np.all([x, y] < high) for low, high in cards.items())
        for x, y in ((float(x), float(y)) for x, y, _ in found)
    ]
    assert inside == [True] * 4


@pytest.mark.parametrize("paper", sorted(PAPERS))
@pytest.mark.parametrize("game", ("tigris", "nile", "deluge"))
def test_no_sheet_of_a_board_is_a_narrow_strip(game, paper):
    plan, _ = plan_of(game, None)
    sheet, tiles = board_sheets(plan.size, PAPERS[paper])
    room = [s - 2 * MARGIN for s in sheet]
    parts = [min(room[a], plan.size[a] - t[2 + a]) for t in tiles for a in (0, 1)]
    assert min(parts) > 150


def test_the_ruler_is_100_mm():
    _, pdf = sheets("tigris", parts=["cards"])
    lines = [np.ptp(np.array(p["points"]), 0).max() for p in pdf.pages[0].drawn if p["p"] == "line"]
    assert max(lines) == 100


@pytest.mark.skipif(not shutil.which("pdftoppm"), reason="no pdftoppm here to render with")
def test_rendered_by_another_program_the_cards_are_found_at_their_size(tmp_path):
    _, pdf = sheets("tigris", address="http://nilometer.local:8080", parts=["cards"])
    pdf.save(tmp_path / "cards.pdf")
    subprocess.run(
        [
            "pdftoppm",
            "-r",
            "200",
            "-png",
            "-singlefile",
            str(tmp_path / "cards.pdf"),
            str(tmp_path / "cards"),
        ],
        check=True,
    )
    image = cv2.imread(str(tmp_path / "cards.png"))
    assert image.shape[1] / 200 * 25.4 == pytest.approx(210, abs=0.2)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(image)
    assert sorted(np.ravel(ids).tolist()) == [0, 1, 2, 3]
    for c in corners:
        q = c.reshape(4, 2)
        assert np.linalg.norm(q - np.roll(q, 1, 0), axis=1) / 200 * 25.4 == pytest.approx(
            [36] * 4, abs=0.15
        )
        assert q[0, 0] < q[1, 0] and q[0, 1] < q[3, 1]  # upright
    assert cv2.QRCodeDetector().detectAndDecode(image)[0] == "http://nilometer.local:8080"


@pytest.mark.parametrize("size", [(520, 370), (700, 570), (860, 630), (150, 150), (200, 290)])
def test_board_sheets_cover_the_board_and_overlap(size):
    sheet, tiles = board_sheets(size)
    room = [s - 2 * MARGIN for s in sheet]
    for axis in (0, 1):
        starts = sorted({t[2 + axis] for t in tiles})
        assert starts[0] == 0 and starts[-1] + room[axis] >= size[axis] > starts[-1]
        widths = [b - a + OVERLAP for a, b in zip(starts, [*starts[1:], size[axis] - OVERLAP])]
        assert max(widths) <= room[axis] + 1e-6 and max(widths) == pytest.approx(min(widths)), (
            "no strips"
        )
    other = A4[::-1] if sheet == A4 else A4
    count = np.prod(
        [np.ceil((b - OVERLAP) / (o - 2 * MARGIN - OVERLAP)) for b, o in zip(size, other)]
    )
    assert len(tiles) <= count


def test_american_paper_holds_all_that_is_printed():
    plan, _ = plan_of("ur", None)
    pdf = print_document(plan, art_for(plan), Text("Ur"), paper=PAPERS["letter"])
    assert {tuple(sorted((page.width, page.height))) for page in pdf.pages} == {(215.9, 279.4)}


@pytest.mark.parametrize("game", GAMES)
def test_every_piece_of_the_box_is_printed_in_its_number(game):
    plan, _ = plan_of(game, None)
    art = art_for(plan)
    printed = Counter()
    for front, back, n in cut_outs(plan, art):
        printed[front] += n
        if back:
            printed[back] += n
        assert art.knows(front) and (back is None or art.knows(back))
    for piece in plan.piece:
        if piece.count and not piece.looks:
            assert printed[piece.kind] >= piece.count, piece.kind
    assert not any(plan.pieces[k].looks for k in printed if k in plan.pieces)


def test_two_sided_pieces_are_printed_once():
    plan, _ = plan_of("ur", None)
    pairs = [(f, b, n) for f, b, n in cut_outs(plan, art_for(plan)) if f.startswith("tile:")]
    assert sum(n for *_, n in pairs) == 40 and len(pairs) == 10
    assert all(sorted(f[5:].split("/")) == sorted(b[5:].split("/")) and f != b for f, b, _ in pairs)


def test_cards_that_the_plan_does_not_count_come_from_the_sheets_of_the_art():
    plan, _ = plan_of("nile", None)
    out = list(cut_outs(plan, art_for(plan)))
    assert (
        sum(n for f, _, n in out if f.startswith("water:")) == 45
        and sum(n for f, _, n in out if f == "desert") == 30
    )
    assert all(b.startswith("event:") for f, b, _ in out if f.startswith("water:") or f == "desert")


@pytest.mark.parametrize("game", GAMES)
def test_pages_hold_as_many_pieces_as_were_asked_for(game):
    plan, pdf = sheets(game, parts=["pieces"])
    placed = sum(s.count(" Do Q") for s in streams(pdf.to_bytes()))
    assert placed == sum(n * (2 if back else 1) for _, back, n in cut_outs(plan, art_for(plan)))


def test_no_piece_leaves_its_page():
    _, pdf = sheets("deluge", parts=["pieces"])
    for content in streams(pdf.to_bytes()):
        for x, y in re.findall(r"1 0 0 1 ([\d.]+) ([\d.]+) cm /X\d+ Do", content):
            assert MARGIN <= float(x) <= A4[0] - MARGIN and MARGIN <= float(y) <= A4[1] - MARGIN


def test_a_plan_without_drawings_prints_too():
    plan = parse_plan(
        {
            "game": "letters",
            "size": [200, 100],
            "piece": [{"kind": "Q", "size": [19, 19], "count": 3}],
            "site": [{"id": "a1", "outline": [[0, 0], [20, 0], [20, 20], [0, 20]]}],
        }
    )
    pdf = print_document(plan, art_for(plan), Text("Letters"))
    assert len(pdf.pages) == 3 and "(Q) Tj" in " ".join(streams(pdf.to_bytes()))


def test_the_command_writes_the_file_and_says_what_is_wrong(tmp_path):
    from click.testing import CliRunner

    name = next(iter(engine.games()))
    good = CliRunner().invoke(
        cli, ["print", name, "-o", str(tmp_path / "x.pdf"), "--only", "cards"]
    )
    assert good.exit_code == 0 and (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-1.4")
    bad = CliRunner().invoke(cli, ["print", name, "-o", str(tmp_path / "no" / "x.pdf")])
    assert bad.exit_code != 0 and bad.exception is not None and "No such file" in str(bad.exception)


@pytest.mark.parametrize(
    "environment, asked, title",
    [
        ({"LC_ALL": "", "LANG": "de_AT.UTF-8"}, [], "Tigris: Markerkarten"),
        ({"LC_ALL": "C", "LANG": "de_AT.UTF-8"}, [], "Euphrates: marker cards"),
        ({"LC_ALL": "de_DE.UTF-8"}, ["--language", "fr"], "Euphrate\xa0: cartes rep\xe8res"),
    ],
)
def test_the_machines_language_is_the_sheets_unless_another_is_named(
    tmp_path, environment, asked, title
):
    from click.testing import CliRunner

    out = tmp_path / "cards.pdf"
    wish = ["print", "tigris", "--only", "cards", "-o", str(out), *asked]
    assert CliRunner().invoke(cli, wish, env=environment).exit_code == 0
    assert title in streams(out.read_bytes())[0]
