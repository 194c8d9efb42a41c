"""``bg.plot`` in the notebook: the canvas's pixels, the legend, errors and animation."""

from __future__ import annotations

import numpy as np
import pytest
from harness.notebook import NotebookPage
from harness.pixels import Pixels, screenshot
from playwright.sync_api import expect

SPIKE = """
import browsergpu as bg
n = 559 * 1800
y = bg.zeros(n)
y[140 * 1800] = 1  # in the middle of a column, so that it is covered completely
y[n // 2 : n // 2 + 100_000] = bg.nan
recorder = bg.init().recorder
reads = recorder.counters["readbacks"]
bg.plot(y, y - 1, "r", label=["spike", "below"], title="Spikes", xlabel="sample", ylabel="V",
        xlim=(0, n), ylim=(-1, 319 / 160 - 1))
recorder.counters["readbacks"] - reads
"""


def columns_of(pixels: Pixels, color: tuple[int, int, int]) -> dict[int, int]:
    """Return the number of pixels of a color in each column that has some."""
    found: dict[int, int] = {}
    for x in range(pixels.width):
        count = sum(
            bool(np.abs(np.subtract(pixels.rgb(x, y), color)).max() <= 2)
            for y in range(pixels.height)
        )
        if count:
            found[x] = count
    return found


def test_a_spike_among_a_million_samples_is_on_the_canvas(notebook: NotebookPage) -> None:
    shown = notebook.run(SPIKE.replace("bg.plot(y, y - 1", 'bg.plot(y, "-", y - 1'))
    assert shown.locator(".execute_result").inner_text() == "0", "samples were read back"
    pixels = screenshot(notebook.page, shown.locator("canvas"))
    blue, red = columns_of(pixels, (31, 119, 180)), columns_of(pixels, (255, 0, 0))
    left = min(blue)
    curve = [x for x in blue if x < left + 560]  # the legend is at the right
    right = max(curve)
    assert right == left + 559
    assert {x: n for x, n in blue.items() if x in curve and n > 3}.keys() == {left + 140}
    # The axis has 160 pixels from -1 to 0, and the red curve ends where the spike begins.
    assert 158 <= blue[left + 140] <= 161, "the spike is half of the axis high"
    assert all(x in red for x in (left, left + 140, left + 270))
    gap = range(left + 284, left + 332)
    assert not any(x in blue or x in red for x in gap), "NaN breaks the line"
    assert max(blue) > right + 20, "the legend shows the color"
    assert max(red) > right + 20


def test_plots_replace_each_other_and_errors_are_clear(notebook: NotebookPage) -> None:
    shown = notebook.run("""
import browsergpu as bg
for i in range(5):
    bg.plot(bg.sin(bg.linspace(0, 6, 1000) + i), ".")
""")
    assert shown.locator("canvas").count() == 1
    told = notebook.run("bg.plot(bg.ones((3, 3)))").inner_text()
    assert "plot: y must have one dimension" in told


def test_the_ylabel_reads_upwards_beside_the_axis(notebook: NotebookPage) -> None:
    code = "import browsergpu as bg\nbg.plot(bg.ones(8), xlim=(0, 7), ylim=(0, 2){})"
    bare = notebook.run(code.format("")).locator("canvas")
    plain = screenshot(notebook.page, bare)
    shown = notebook.run(code.format(', ylabel="a long text in volts"')).locator("canvas")
    pixels = screenshot(notebook.page, shown)
    assert (pixels.height, pixels.width) == (plain.height, plain.width + 18)
    dark = [(x, y) for x in range(20) for y in range(pixels.height) if max(pixels.rgb(x, y)) < 128]
    across, up = ({at[i] for at in dark} for i in (0, 1))
    assert max(across) - min(across) < 16 < 90 < max(up) - min(up)
    assert abs((max(up) + min(up)) / 2 - 167) < 8, "in the middle of the axis"


def test_plots_are_dark_in_the_dark_theme(notebook: NotebookPage) -> None:
    code = "import browsergpu as bg\nbg.plot(bg.ones(8), title='dark'{})"

    def corner(more: str) -> tuple[int, int, int]:
        canvas = notebook.run(code.format(more)).locator("canvas")
        return screenshot(notebook.page, canvas).rgb(4, 4)

    notebook.page.emulate_media(color_scheme="dark")
    try:
        assert corner("") == (30, 33, 35)
        assert corner(", dark=False") == (255, 255, 255)
        assert corner(", color='k'") == (255, 255, 255), "black on dark paper would be invisible"
    finally:
        notebook.page.emulate_media(color_scheme="light")
    assert corner("") == (255, 255, 255)


ALTERNATING = """
import browsergpu as bg
import browsergpu.functions.images.pointer as p
n = 20_000
y = bg.arange(n, dtype=bg.int32) % 2
bg.plot(y, xlim=(0, n), ylim=(0, 1))
reads = bg.init().recorder.counters["readbacks"]
"""
SHOWN = "view = next(reversed(p._listeners.values()))\n"


def test_zoom_and_pan_draw_more_detail(notebook: NotebookPage) -> None:
    shown = notebook.run(ALTERNATING)
    canvas = shown.locator("canvas")
    plain = screenshot(notebook.page, canvas)
    middle = plain.width // 2, plain.height // 2
    assert {plain.rgb(x, middle[1]) for x in range(200, 240)} == {(31, 119, 180)}, "all samples"
    mouse = notebook.page.mouse
    # The focus lets the wheel zoom. Below the curve, it zooms only the x axis.
    below = {"x": middle[0], "y": plain.height - 12}
    canvas.click(position=below)
    canvas.hover(position=below)  # the click may have moved the page
    for _ in range(32):
        mouse.wheel(0, -100)
    show_all = shown.get_by_role("button", name="Show all")
    expect(show_all).to_be_visible()
    expect(shown.get_by_role("button", name="Pause")).to_be_hidden()
    notebook.wait_idle()
    ranges = "[round(end, 3) for axis in view._shown for end in (axis.low, axis.high)]"
    low, high, *rest = eval(notebook.run(SHOWN + ranges).inner_text())
    assert high - low == pytest.approx(20_000 / 1.25**32, rel=0.01)
    assert rest == [0, 1]
    zoomed = screenshot(notebook.page, canvas)
    white = sum(zoomed.rgb(x, middle[1]) == (255, 255, 255) for x in range(60, 600))
    assert white > 400, "the 16 samples of this part are apart"
    box = canvas.bounding_box()
    assert box
    mouse.move(box["x"] + middle[0], box["y"] + middle[1])
    mouse.down()
    mouse.move(box["x"] + middle[0] + 56, box["y"] + middle[1], steps=3)
    mouse.up()
    notebook.wait_idle()
    moved, *_ = eval(notebook.run(SHOWN + ranges).inner_text())
    assert low - moved == pytest.approx((high - low) / 10, rel=0.02)
    assert notebook.run('bg.init().recorder.counters["readbacks"] - reads').inner_text() == "0"
    canvas.dblclick(position={"x": middle[0], "y": middle[1]})
    expect(show_all).to_be_hidden()
    notebook.wait_idle()
    assert eval(notebook.run(SHOWN + ranges).inner_text()) == [0, 20_000, 0, 1]
    # The cell's plot and its samples go with the cell.
    notebook.run("del y, view")
    count = int(notebook.run("len(p._listeners)").inner_text())
    notebook.cell(0).click(position={"x": 4, "y": 4})
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("d")
    notebook.page.keyboard.press("d")
    expect(notebook.page.locator(".picture-view")).to_have_count(0)
    assert int(notebook.run("len(p._listeners)").inner_text()) == count - 1
