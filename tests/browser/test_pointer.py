"""The ``on_pointer`` of ``bg.draw``: a person draws with mouse and finger on pictures of arrays."""

from __future__ import annotations

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.pixels import screenshot
from playwright.sync_api import Locator, expect

BRUSH = """
import browsergpu as bg
rows, columns = bg.arange(32)[:, None], bg.arange(64)
image = bg.zeros((32, 64))
events = []

def paint(event):
    events.append(event)
    for x, y in event.points:
        image[(rows - y) ** 2 + (columns - x) ** 2 < 4] = 0.5 if event.button == "right" else 1
    bg.draw(image, interpolation="nearest", on_pointer=paint)

bg.draw(image, interpolation="nearest", on_pointer=paint)
"""


def box_of(shown: Locator) -> tuple[float, float, float]:
    """Return left, top and the size of an array's pixel of a drawing that is 64 pixels wide."""
    canvas = shown.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    return box["x"], box["y"], box["width"] / 64


def drag(notebook: NotebookPage, shown: Locator, *points: tuple[float, float]) -> None:
    """Drag over positions in array coordinates."""
    left, top, size = box_of(shown)
    mouse = notebook.page.mouse
    for i, (x, y) in enumerate(points):
        mouse.move(left + (x + 0.5) * size, top + (y + 0.5) * size)
        if i == 0:
            mouse.down()
    mouse.up()


def value(notebook: NotebookPage, code: str) -> str:
    return notebook.run(code).inner_text().strip()


def wait_up(notebook: NotebookPage, count: int = 1) -> None:
    """Wait until the callback was called for the release of a button."""
    notebook.wait_idle()
    for _ in range(40):
        if value(notebook, "sum(e.type == 'up' for e in events)") == str(count):
            return
        notebook.page.wait_for_timeout(50)
    raise AssertionError(value(notebook, "events"))


def test_a_brush_draws_where_the_mouse_is(notebook: NotebookPage) -> None:
    shown = notebook.run(BRUSH)
    drag(notebook, shown, (10, 8), (20, 8), (20, 20))
    wait_up(notebook)
    types = value(notebook, "[e.type for e in events]")
    assert types.startswith("['down', 'move'")
    assert types.endswith("'up']")
    found = "[(e.row, e.column, e.pressed, e.button, e.pointer, sorted(e.modifiers)) for e in %s]"
    assert value(notebook, found % "(events[0], events[-1])") == (
        "[(8, 10, True, 'left', 'mouse', []), (20, 20, False, 'left', 'mouse', [])]"
    )
    moved = "round(sum(e.dx for e in events), 3), round(sum(e.dy for e in events), 3)"
    assert value(notebook, moved) == "(10.0, 12.0)"
    assert value(
        notebook, "[float(image[at]) for at in ((8, 10), (8, 20), (20, 20), (15, 12))]"
    ) == ("[1.0, 1.0, 1.0, 0.0]")
    # The picture shows the strokes.
    canvas = shown.locator("canvas")
    pixels = screenshot(notebook.page, canvas)
    assert pixels.rgb(10 * 4 + 2, 8 * 4 + 2) == (255, 255, 255)
    assert pixels.rgb(40 * 4 + 2, 8 * 4 + 2) == (0, 0, 0)


def test_modifiers_the_right_button_and_positions_outside(notebook: NotebookPage) -> None:
    shown = notebook.run(BRUSH)
    left, top, size = box_of(shown)
    mouse, keyboard = notebook.page.mouse, notebook.page.keyboard
    keyboard.down("Shift")
    mouse.move(left + 5.5 * size, top + 6.5 * size)
    mouse.down(button="right")
    mouse.move(left - 20 * size, top - 3.5 * size, steps=3)
    mouse.up(button="right")
    keyboard.up("Shift")
    wait_up(notebook)
    assert value(notebook, "float(image[6, 5])") == "0.5"
    last = "e = events[-1]\ne.row, e.column, round(e.y, 3), round(e.x, 3), e.modifiers"
    assert value(notebook, last) == "(0, 0, -4.0, -20.5, frozenset({'shift'}))"


def test_ctrl_zooms_and_pans_and_the_wheel_scrolls_the_page(notebook: NotebookPage) -> None:
    shown = notebook.run(BRUSH)
    left, top, size = box_of(shown)
    mouse, keyboard = notebook.page.mouse, notebook.page.keyboard
    canvas = shown.locator("canvas")
    canvas.click(position={"x": 1, "y": 1})
    wait_up(notebook)
    mouse.move(left + 128, top + 64)
    mouse.wheel(0, -100)
    notebook.page.wait_for_timeout(100)
    expect(canvas).not_to_have_class("zoomed")
    left, top, size = box_of(shown)
    mouse.move(left + 16.5 * size, top + 8.5 * size)
    keyboard.down("Control")
    mouse.wheel(0, -100)
    mouse.wheel(0, -100)
    mouse.wheel(0, -100)
    mouse.down()
    mouse.move(left + 20.5 * size, top + 8.5 * size)
    mouse.up()
    keyboard.up("Control")
    wait_up(notebook)  # no more events
    frame = shown.locator(".picture-box").bounding_box()
    assert frame
    zoomed_left, zoomed_top, zoomed = box_of(shown)
    assert zoomed / size == pytest.approx(1.25**3, abs=0.01)
    assert zoomed_left + 16.5 * zoomed - frame["x"] == pytest.approx(20.5 * size, abs=1)
    mouse.click(zoomed_left + 18.5 * zoomed, zoomed_top + 9.5 * zoomed)
    wait_up(notebook, 2)
    assert value(notebook, "(events[-1].row, events[-1].column)") == "(9, 18)"


def test_a_loop_that_never_waits_gets_input(notebook: NotebookPage) -> None:
    notebook.run(BRUSH)
    index = notebook.start("""
import time
events.clear()
def note(event):
    events.append(event)
end = time.monotonic() + 30
frames = 0
while time.monotonic() < end and not any(e.type == "up" for e in events):
    frames += 1
    image = image * 0.99
    bg.draw(image, interpolation="nearest", on_pointer=note)
[e.type for e in events][::len(events) - 1], events[0].row, events[0].column, frames > 2
""")
    shown = notebook.output(index)
    expect(shown.locator("canvas")).to_be_visible()
    drag(notebook, shown, (30, 12), (31, 12))
    notebook.wait_finished()
    assert "(['down', 'up'], 12, 30, True)" in shown.inner_text()


@pytest.mark.provokes_errors
def test_an_error_is_shown_at_the_picture_and_ends_its_input(notebook: NotebookPage) -> None:
    shown = notebook.run("""
import browsergpu as bg
calls = 0
def fails(event):
    global calls
    calls += 1
    print("called")
    raise ValueError("a wrong brush")
bg.draw(bg.ones((32, 64)), interpolation="nearest", on_pointer=fails)
""")
    drag(notebook, shown, (3, 3), (9, 9), (20, 20))
    expect(shown).to_contain_text("ValueError: a wrong brush")
    expect(shown).to_contain_text("called")
    expect(shown).to_contain_text("in fails")
    notebook.wait_idle()
    drag(notebook, shown, (3, 3), (9, 9))
    notebook.page.wait_for_timeout(200)
    notebook.wait_idle()
    assert value(notebook, "calls") == "1"
    # In a loop, the error is the cell's own.
    index = notebook.start("""
while True:
    bg.draw(bg.ones((32, 64)), interpolation="nearest", on_pointer=fails)
""")
    shown = notebook.output(index)
    expect(shown.locator("canvas")).to_be_visible()
    drag(notebook, shown, (3, 3), (9, 9))
    notebook.wait_finished()
    expect(shown).to_contain_text("ValueError: a wrong brush")


def test_input_waits_for_another_cell(notebook: NotebookPage) -> None:
    shown = notebook.run(BRUSH)
    index = notebook.start("import asyncio\nfor _ in range(20):\n    await asyncio.sleep(0.05)")
    drag(notebook, shown, (10, 8), (12, 8))
    notebook.wait_finished()
    assert notebook.output(index).inner_text() == ""
    wait_up(notebook)
    assert value(notebook, "float(image[8, 12])") == "1.0"


def test_a_draw_without_a_function_ends_input(notebook: NotebookPage) -> None:
    shown = notebook.run(BRUSH + "\nbg.draw(image, interpolation='nearest')")
    drag(notebook, shown, (10, 8), (12, 8))
    notebook.page.wait_for_timeout(200)
    assert value(notebook, "events") == "[]"
    expect(shown.locator("canvas")).not_to_have_class("takes-pointer")


def test_functions_of_pictures_that_are_gone_are_dropped(notebook: NotebookPage) -> None:
    notebook.run(BRUSH)
    count = "import browsergpu.functions.images.pointer as p\nlen(p._listeners)"
    before = int(value(notebook, count))
    for _ in range(2):
        notebook.cell(0).locator(".cm-content").click()
        notebook.page.keyboard.press("Control+Enter")
        notebook.wait_finished()
    assert int(value(notebook, count)) == before


def test_a_finger_draws(lab: Lab) -> None:
    with lab.page_with_the_package("main") as bare:
        bare.run("""
            import browsergpu as bg
            from browsergpu import WasmBackend

            backend = await WasmBackend.init_from_canvas("gpu-canvas")
            bg.use(backend)
            events = []
            bg.draw(bg.ones((32, 64)), on_pointer=events.append)
        """)
        bare.page.evaluate("""() => {
          const canvas = document.getElementById("gpu-canvas");
          const { left, top, width, height } = canvas.getBoundingClientRect();
          const at = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
            pointerId: 1, pointerType: "touch", isPrimary: true, bubbles: true, button: 0,
            clientX: left + (x + 0.5) * width / 64, clientY: top + (y + 0.5) * height / 32,
          }));
          canvas.setPointerCapture = () => {};
          at("pointerdown", 4, 5);
          at("pointermove", 6, 5);
          at("pointermove", 9, 7);
          at("lostpointercapture", 9, 7);
        }""")
        bare.page.wait_for_timeout(500)
        told = bare.run("[(e.type, e.column, e.row, len(e.points), e.pointer) for e in events]")
        assert told == [
            ["down", 4, 5, 1, "touch"],
            ["move", 9, 7, 2, "touch"],
            ["up", 9, 7, 1, "touch"],
        ]


@pytest.mark.parametrize("kernel", ["worker"])
def test_a_page_without_pointer_input_says_so(lab: Lab, kernel: str) -> None:
    with lab.page_with_the_package(kernel) as bare:
        told = bare.run("""
            import browsergpu as bg
            from browsergpu import WasmBackend

            backend = await WasmBackend.init_from_canvas("gpu-canvas")
            bg.use(backend)
            told = []
            for wrong in (print, 3, lambda: 1, None):
                try:
                    bg.draw(bg.ones((3, 4)), on_pointer=wrong)
                except Exception as error:
                    told.append(f"{type(error).__name__}: {error}")
            told
        """)
        assert len(told) == 3
        assert "the notebook" in told[0]
        assert told[1].startswith("InvalidType: draw: on_pointer must be a function")


def test_images_know_their_cell_without_asking_the_page(notebook: NotebookPage) -> None:
    shown = notebook.run(
        f"{BRUSH}\nfrom browsergpu.engine.gpu import platform\n"
        "asked, ask = [], platform.pointer_owner\n"
        "platform.pointer_owner = lambda name: asked.append(name) or ask(name)\n"
        "for _ in range(3): bg.draw(image, on_pointer=paint)\n"
        "platform.pointer_owner = ask\nprint(asked)"
    )
    expect(shown).to_contain_text("[]")
    drag(notebook, shown, (10, 8), (20, 8))
    wait_up(notebook)
