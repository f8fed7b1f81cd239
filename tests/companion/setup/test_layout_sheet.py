"""The sheet that says what to lay out for the photos."""

from companion.setup.layout_sheet import layout_sheet
from companion.simulate import plan_of
from companion_web.catalogue import text_writer


def test_the_sheet_names_pieces_in_the_readers_language():
    plan, _ = plan_of("ur", None)
    layouts = [{"C3": ["tile:war/trade", "black"]}]
    sheet = layout_sheet(plan, layouts, "nl", text_writer("nl"))
    assert "<html lang=nl>" in sheet and "Ur: wat je neerlegt" in sheet
    assert "<dt>C3<dd>de tegel oorlog" in sheet and "tile:" not in sheet
