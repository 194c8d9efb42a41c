"""``bg.plot`` in the notebook: the canvas's pixels, the legend, errors and animation."""

from __future__ import annotations

import numpy as np
from harness.notebook import NotebookPage
from harness.pixels import Pixels, screenshot

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
