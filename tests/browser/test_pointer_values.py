"""The values of a drawing under a mouse that rests on it, and the limits of pointer input."""

from __future__ import annotations

from harness.notebook import NotebookPage
from playwright.sync_api import Locator, expect

DRAWN = """
import browsergpu as bg
image = bg.arange(32 * 64).reshape(32, 64) / 4
bg.draw(image, cmap="viridis", interpolation="nearest")
"""
LISTENERS = "import browsergpu.functions.images.pointer as p\nlen(p._listeners)"


def rest(notebook: NotebookPage, shown: Locator, x: float, y: float, width: int = 64) -> Locator:
    """Move the mouse to column ``x`` and row ``y``, and return the text beside it."""
    notebook.wait_idle()
    canvas = shown.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    size = box["width"] / width
    notebook.page.mouse.move(box["x"] - 3, box["y"] - 3)
    notebook.page.mouse.move(box["x"] + (x + 0.5) * size, box["y"] + (y + 0.5) * size, steps=3)
    return shown.locator(".picture-value")


def says_nothing(notebook: NotebookPage, text: Locator) -> None:
    notebook.page.wait_for_timeout(600)
    expect(text).to_be_hidden()


def test_a_mouse_that_rests_shows_row_column_and_value(notebook: NotebookPage) -> None:
    shown = notebook.run(DRAWN)
    text = rest(notebook, shown, 10, 8)
    expect(text).to_have_text("row 8, column 10: 130.5")
    expect(text).to_be_visible()
    notebook.page.mouse.move(0, 0)
    expect(text).to_be_hidden()
    # The values are the array's, and the image may be zoomed.
    shown.locator(".picture-box").press("+")
    shown.locator(".picture-box").press("+")
    expect(rest(notebook, shown, 31, 15)).to_have_text("row 15, column 31: 247.75")


def test_colours_axes_and_margins(notebook: NotebookPage) -> None:
    shown = notebook.run("""
import browsergpu as bg, numpy as np
pixels = bg.asarray(np.arange(32 * 64 * 3, dtype=np.uint8).reshape(32, 64, 3))
bg.draw(pixels)
""")
    expect(rest(notebook, shown, 1, 0)).to_have_text("row 0, column 1: (3, 4, 5)")
    shown = notebook.run("""
flags = bg.eye(64, dtype=bool)
bg.draw(flags, title="A title", axes=True)
import browsergpu.functions.images.drawn as d
place = next(reversed(d._drawings.values())).place
print(place.left, place.top, place.factor)
""")
    left, top, factor = map(int, shown.locator("pre").inner_text().split())
    width = shown.locator("canvas").evaluate("(canvas) => canvas.width")
    across = left + 4.5 * factor - 0.5, top + 4.5 * factor - 0.5
    expect(rest(notebook, shown, *across, width)).to_have_text("row 4, column 4: True")
    says_nothing(notebook, rest(notebook, shown, 2, 2, width))


def test_arrays_that_changed_or_are_gone_show_no_values(notebook: NotebookPage) -> None:
    shown = notebook.run(DRAWN)
    expect(rest(notebook, shown, 0, 1)).to_have_text("row 1, column 0: 16.0")
    notebook.run("image[3, 4] = 2")
    says_nothing(notebook, rest(notebook, shown, 0, 1))
    # A view writes into the memory of the drawn array.
    shown = notebook.run("part = image[:2]\nbg.draw(image, vmin=0, vmax=512)")
    expect(rest(notebook, shown, 0, 1)).to_be_visible()
    notebook.run("part[...] = 7")
    says_nothing(notebook, rest(notebook, shown, 0, 1))
    shown = notebook.run("other = image + 1\nbg.draw(other, vmin=0, vmax=512)")
    expect(rest(notebook, shown, 4, 3)).to_have_text("row 3, column 4: 3.0")
    notebook.run("del other")
    says_nothing(notebook, rest(notebook, shown, 4, 3))
    count = "import browsergpu.functions.images.drawn as d\nlen(d._drawings)"
    before = int(notebook.run(count).inner_text())
    # A busy kernel is not asked.
    shown = notebook.run("bg.draw(image, vmin=0, vmax=512)")
    assert int(notebook.run(count).inner_text()) == before + 1
    notebook.start("import asyncio\nawait asyncio.sleep(1.5)")
    canvas = shown.locator("canvas")
    canvas.hover()
    says_nothing(notebook, shown.locator(".picture-value"))
    notebook.wait_finished()


def test_a_deleted_cell_lets_its_function_go(notebook: NotebookPage) -> None:
    before = int(notebook.run(LISTENERS).inner_text())
    notebook.run("""
import browsergpu as bg
bg.draw(bg.ones((32, 64)), interpolation="nearest", on_pointer=print)
""")
    assert int(notebook.run(LISTENERS).inner_text()) == before + 1
    notebook.cell(1).click(position={"x": 4, "y": 4})
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("d")
    notebook.page.keyboard.press("d")
    expect(notebook.page.locator(".picture-view")).to_have_count(0)
    assert int(notebook.run(LISTENERS).inner_text()) == before
    notebook.page.get_by_role("button", name="Undo").click()
    expect(notebook.page.locator(".picture-view canvas")).not_to_have_class("takes-pointer")


def test_input_that_is_dropped_is_told(notebook: NotebookPage) -> None:
    shown = notebook.run("""
import browsergpu as bg
count, types = 0, []
def note(event):
    global count
    count += len(event.points)
    types.append(event.type)
bg.draw(bg.ones((32, 64)), interpolation="nearest", on_pointer=note)
""")
    index = notebook.start("import asyncio\nawait asyncio.sleep(2)")
    shown.locator("canvas").scroll_into_view_if_needed()
    # Playwright's mouse is too slow for so many moves.
    shown.locator("canvas").evaluate("""(canvas) => {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const at = (type, part) => canvas.dispatchEvent(new PointerEvent(type, {
        pointerId: 1, pointerType: "mouse", isPrimary: true, bubbles: true, button: 0,
        clientX: left + part * width, clientY: top + part * height,
      }));
      canvas.setPointerCapture = () => {};
      at("pointerdown", 0);
      for (let i = 0; i < 1500; i++) at("pointermove", i / 1500);
      at("lostpointercapture", 0.99);
    }""")
    notebook.wait_finished()
    assert notebook.output(index).inner_text() == ""
    expect(shown).to_contain_text("502 positions more than wait for a busy kernel")
    notebook.wait_idle()
    assert notebook.run("count, types").inner_text() == "(1000, ['down', 'move', 'up'])"
