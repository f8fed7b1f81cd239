"""The sheet that says what to lay out for the photos."""

from companion.printing.board_drawing import board_drawing
from companion.setup.layout_sheet import layout_picture, layout_sheet, pile_shapes
from companion.simulate import plan_of
from companion_web.catalogue import text_writer


def test_the_sheet_names_pieces_in_the_readers_language():
    plan, _ = plan_of("ur", None)
    layouts = [{"C3": ["tile:war/trade", "black"]}]
    sheet = layout_sheet(plan, layouts, "nl", text_writer("nl"))
    assert "<html lang=nl>" in sheet and "Ur: wat je neerlegt" in sheet
    assert "<dt>C3<dd>de tegel oorlog" in sheet and "tile:" not in sheet


def test_a_monument_is_drawn_above_the_tiles_it_stands_on():
    plan, _ = plan_of("tigris", None)
    drawn = board_drawing("tigris", plan)
    tiles = {"C5": ["flipped"], "B6": ["flipped"], "C6": ["flipped"]}
    layout = {"B5": ["flipped", "monument:black-red"], **tiles}
    monument = pile_shapes(drawn, drawn["sites"]["B5"], layout["B5"])
    assert layout_picture(drawn, layout).endswith("".join(monument) + "</svg>")
