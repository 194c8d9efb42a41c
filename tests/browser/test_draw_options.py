"""The options of ``bg.draw`` on the page: the canvas's pixels, and Matplotlib's colors."""

from __future__ import annotations

import numpy as np
from harness.notebook import NotebookPage
from harness.pixels import Pixels, screenshot

MATPLOTLIB = """
import matplotlib, numpy as np
import browsergpu as bg
from browsergpu.functions.images import colormaps
worst = 0
for name in colormaps.NAMES:
    for one in (name, name + "_r"):
        theirs = matplotlib.colormaps[one](np.arange(256))
        worst = max(worst, abs(colormaps.colormap("draw", one) - theirs).max())
float(worst) < 0.51 / 255
"""

DRAWN = """
reads = bg.init().recorder.counters["readbacks"]
x = np.linspace(-2, 3, 48, dtype=np.float32).reshape(6, 8)
x[1, 2] = np.nan
bg.draw(bg.asarray(x), cmap="viridis", vmin=-2, vmax=2, nan="#ff0000", axes=True, colorbar=True,
        title="Six rows")
bg.init().recorder.counters["readbacks"] - reads
"""

EXPECTED = """
from matplotlib.colors import Normalize
chosen = matplotlib.colormaps["viridis"].with_extremes(bad="#ff0000")
(chosen(Normalize(-2, 2)(np.ma.masked_invalid(x)))[..., :3] * 255).round().astype(int).tolist()
"""


def test_colors_are_matplotlibs_and_nothing_is_read(notebook: NotebookPage) -> None:
    assert notebook.run(MATPLOTLIB).inner_text() == "True"
    shown = notebook.run(DRAWN)
    assert shown.locator(".execute_result").inner_text() == "0", "the image was read back"
    pixels = screenshot(notebook.page, shown.locator("canvas"))
    wanted = np.array(eval(notebook.run(EXPECTED).inner_text()))
    # The image is 8 x 32 pixels wide, below the title and to the right of the labels.
    top, left = first_pixel(pixels)
    for row in range(6):
        for column in range(8):
            got = pixels.rgb(left + 32 * column + 16, top + 32 * row + 16)
            assert np.abs(np.subtract(got, wanted[row, column])).max() <= 1, (row, column)
    # The colorbar goes from the last color at the top to the first.
    bar = next(c for c in range(left + 8 * 32 + 4, pixels.width) if _is_colored(pixels, c, top + 9))
    assert np.abs(np.subtract(pixels.rgb(bar + 3, top), (253, 231, 37))).max() <= 1
    assert np.abs(np.subtract(pixels.rgb(bar + 3, top + 191), (68, 1, 84))).max() <= 1
    assert any(sum(pixels.rgb(c, r)) < 300 for r in range(top - 2) for c in range(pixels.width))


def first_pixel(pixels: Pixels) -> tuple[int, int]:
    """Return row and column of the image's first pixel, which has viridis's first color."""
    for row in range(pixels.height):
        for column in range(pixels.width):
            if np.abs(np.subtract(pixels.rgb(column, row), (68, 1, 84))).max() <= 1:
                return row, column
    raise AssertionError("the image is not there")


def _is_colored(pixels: Pixels, column: int, row: int) -> bool:
    colors = pixels.rgb(column, row)
    return max(colors) - min(colors) > 40


def test_a_colorbar_of_unknown_range_and_errors(notebook: NotebookPage) -> None:
    notebook.run("import browsergpu as bg\nx = bg.arange(12.0).reshape(3, 4)")
    shown = notebook.run("bg.draw(x, cmap='magma', colorbar=True, interpolation='bilinear')")
    size = shown.locator("canvas").evaluate("(canvas) => [canvas.width, canvas.height]")
    assert size[0] > 256 + 14
    assert size[1] > 192
    told = notebook.run("bg.draw(x, cmap='jet')").inner_text()
    assert "cmap must be one of viridis" in told
