"""Curves for ``bg.plot``: the pixels that they cover, their limits, and refused arguments.

test_plot.py looks at the canvas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.images import curves, paper, plot_view, plots, series


def mask(bg: Any, x: Any, y: Any, height: int, width: int, **options: Any) -> np.ndarray:
    chosen = {"size": 1, "is_line": True, "is_disc": False, **options}
    x, y = (bg.asarray(np.asarray(one, np.float32)) for one in (x, y))
    return np.asarray(curves.mask(x, y, height, width, **chosen)).astype(bool)


def expected_line(x: np.ndarray, y: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the pixels between the least and greatest height in each column, line by line."""
    found = np.zeros((height, width), bool)
    for (x0, y0), (x1, y1) in zip(
        zip(x[:-1], y[:-1], strict=True), zip(x[1:], y[1:], strict=True), strict=True
    ):
        if not np.isfinite([x0, y0, x1, y1]).all():
            continue
        a, b = sorted((int(np.floor(x0 + 0.5)), int(np.floor(x1 + 0.5))))
        for column in range(max(a, 0), min(b, width - 1) + 1):
            ends = [y0, y1]
            if a != b:
                t = np.clip((np.array([column - 0.5, column + 0.5]) - x0) / (x1 - x0), 0, 1)
                ends = [y0 + one * (y1 - y0) for one in t]
            low, high = (int(np.floor(end + 0.5)) for end in (min(ends), max(ends)))
            found[max(low, 0) : max(high + 1, 0), column] = True
    return found


def test_a_spike_among_a_million_samples_is_seen(bg: Any) -> None:
    n, width = 1_000_000, 200
    y = bg.zeros(n)
    y[654_321] = 50
    found = curves.mask(
        bg.arange(n, dtype=bg.float32) * ((width - 1) / (n - 1)), y, 60, width,
        size=1, is_line=True, is_disc=False,
    )  # fmt: skip
    pixels = np.asarray(found)
    column = round(654_321 * (width - 1) / (n - 1))
    assert pixels[0].all(), "the curve goes on at both sides"
    assert pixels[:51, column].all(), "the spike covers the pixels up to its height"
    assert pixels.sum() == width + 50


@pytest.mark.parametrize("n", [2, 33, 200, 3000])
def test_a_line_covers_the_pixels_between_its_heights(bg: Any, n: int) -> None:
    # Quarters, whose arithmetic is exact enough that no height is near the edge of a pixel.
    rng = np.random.default_rng(n)
    x = rng.integers(-40, 340, n) / 4 + 0.1
    y = rng.integers(-40, 240, n) / 4 + 0.07
    x[n // 3 :: 11], y[n // 5 :: 13] = (np.nan, np.inf) if n > 2 else (x[0], y[1])
    found = mask(bg, x, y, 50, 80)
    wanted = expected_line(x.astype(np.float32), y.astype(np.float32), 50, 80)
    # A height at the edge of two pixels may round to either.
    assert (found != wanted).sum() <= max(1, wanted.sum() // 500)
    assert wanted.any()


def test_a_rising_line_covers_each_column_once(bg: Any) -> None:
    found = mask(bg, [0, 9], [0, 9], 10, 10)
    np.testing.assert_array_equal(found.sum(axis=0) >= 1, True)
    assert found[np.arange(10), np.arange(10)].all()
    assert not np.triu(found, 2).any()
    assert not np.tril(found, -2).any()


def test_nan_breaks_a_line(bg: Any) -> None:
    y = np.full(21, 3.0)
    y[8] = np.nan
    y[14] = np.inf
    found = mask(bg, np.arange(21), y, 8, 21)
    wanted = np.ones(21, bool)
    wanted[[8, 14]] = False
    np.testing.assert_array_equal(found[3], wanted)
    assert found.sum() == 19


def test_widths_and_points(bg: Any) -> None:
    wide = mask(bg, [4, 15], [5, 5], 12, 20, size=3)
    np.testing.assert_array_equal(wide[4:7, 3:17], True)
    assert wide.sum() == 3 * 14
    dot = mask(bg, [5, np.nan], [5, 1], 11, 11, size=5, is_line=False, is_disc=True)
    away = (np.arange(11) - 5) ** 2
    np.testing.assert_array_equal(dot, away[:, None] + away <= 2.5**2)
    assert mask(bg, [3, -2, 99], [2, 2, 2], 5, 5, is_line=False).sum() == 1


def test_automatic_limits_are_those_of_the_finite_values(bg: Any) -> None:
    y = bg.asarray(np.array([1, np.nan, 3, -np.inf, 2], np.float32))
    found = series.parse("plot", (y, "-", y * 10, "."), None, None)
    x_axis, y_axis = plots.axes(found, None, None, x_log=False, y_log=False)
    np.testing.assert_allclose([x_axis.low, x_axis.high], [-0.2, 4.2])
    np.testing.assert_allclose([y_axis.low, y_axis.high], [1 - 1.45, 30 + 1.45])
    x_axis, y_axis = plots.axes(found, (0, 1), None, x_log=False, y_log=True)
    assert (x_axis.low, x_axis.high) == (0, 1)
    np.testing.assert_allclose(np.log10([y_axis.low, y_axis.high]), np.log10([1, 30]) + np.array(
        [-1, 1]) * 0.05 * np.log10(30), rtol=1e-5)  # fmt: skip
    assert y_axis.ticks(5)[1] == ["1e0", "1e1"]


def test_given_limits_read_nothing(bg: Any) -> None:
    device = bg.init()
    y = bg.arange(100.0)
    before = device.recorder.counters["readbacks"]
    found = series.parse("plot", (y,), "r", "one")
    x_axis, y_axis = plots.axes(found, (0, 99), (0, 99), x_log=False, y_log=False)
    plots.area(found, x_axis, y_axis, (20, 30), 1, 1.0)
    assert device.recorder.counters["readbacks"] == before


def test_colors_of_curves_over_each_other(bg: Any) -> None:
    y = bg.full(10, 0.5)
    found = series.parse("plot", (y, "-", y), ["#ff0000", "k"], None)
    axis = plots.Axis(0, 9, False), plots.Axis(0, 1, False)
    image = np.asarray(plots.area(found, *axis, (5, 10), 1, 0.5))
    np.testing.assert_allclose(image[2, 5], [0.5, 0.25, 0.25, 1])
    np.testing.assert_array_equal(image[0, 5], 1)


def test_edges_of_lines_are_smooth(bg: Any) -> None:
    found = series.parse("plot", (bg.asarray([0.0, 1.0]),), "k", None)
    axis = plots.Axis(0, 1, False), plots.Axis(0, 1, False)
    image = np.asarray(plots.area(found, *axis, (11, 61), 1, 1.0))[..., 0]
    covered = 1 - image
    # The line rises by a pixel over six columns, so the pixels beside it are covered in part.
    assert ((covered > 0.2) & (covered < 0.8)).sum() > 30
    np.testing.assert_allclose(covered.sum(axis=0)[2:-2], 1, atol=0.4)
    level = series.parse("plot", (bg.full(3, 0.5),), "k", None)
    flat = 1 - np.asarray(plots.area(level, *axis, (11, 61), 1, 1.0))[..., 0]
    np.testing.assert_allclose(flat.sum(axis=0), 1, atol=1e-6)
    assert flat[5].min() == 1


def test_dark_paper(bg: Any) -> None:
    (curve,) = series.parse("plot", (bg.full(3, 0.5),), "r", None)
    axis = plots.Axis(0, 2, False), plots.Axis(0, 1, False)
    image = np.asarray(plots.area([curve], *axis, (5, 9), 1, 1.0, paper.DARK))
    np.testing.assert_allclose(image[0, 0, :3], paper.DARK.paper, atol=1e-6)
    np.testing.assert_allclose(image[2, 4, :3], [1, 0, 0], atol=1e-6)
    printed = paper.DARK.printed(np.array([[[0, 0, 0, 255], [255, 255, 255, 255]]], np.uint8))
    np.testing.assert_array_equal(printed, [[[230, 231, 229], [30, 33, 35]]])
    black, red = np.array([0, 0, 0, 1.0]), np.array([1.0, 0, 0, 1])
    assert paper.choose(None, [red]) is paper.LIGHT, "without a page"
    paper.know_theme(lambda: True)
    try:
        assert paper.choose(None, [red]) is paper.DARK
        assert paper.choose(None, [red, black]) is paper.LIGHT
        assert paper.choose(False, [red]) is paper.LIGHT
    finally:
        paper.know_theme(lambda: False)
    assert paper.choose(True, [black]) is paper.DARK


def test_zooming_in_shows_each_sample(bg: Any) -> None:
    n = 100_000
    y = bg.asarray((np.arange(n) % 2).astype(np.float32))
    found = series.parse("plot", (y,), None, None)
    axis = plots.Axis(500, 504, False), plots.Axis(0, 1, False)
    image = np.asarray(plots.area(found, *axis, (11, 41), 1, 1.0))
    covered = (image[..., :3] < 1).any(axis=2)
    for row, column in ((10, 0), (0, 10), (10, 20), (0, 30)):
        assert covered[row, column], (row, column)
    assert not covered[0, 0]
    assert not covered[10, 10]


def view_of(
    bg: Any, samples: Any, **limits: tuple[float, float]
) -> tuple[plot_view.PlotView, list[np.ndarray]]:
    """Return the view of a plot, and a list that gets its pictures."""
    found = series.parse("plot", (bg.asarray(samples),), None, None)
    axes = plots.axes(found, limits["x"], limits["y"], x_log=False, y_log=False)
    texts = dict.fromkeys(("title", "xlabel", "ylabel"))
    shown: list[np.ndarray] = []
    view = plot_view.PlotView(
        plots.Plot(found, texts, 1, 1.0, paper.LIGHT), *axes,
        lambda picture, _: shown.append(picture),
    )  # fmt: skip
    view.keep_samples()
    view.draw()
    return view, shown


def test_zoom_and_pan_draw_the_samples_anew(bg: Any) -> None:
    n = 4001
    y = bg.asarray((np.arange(n) % 2).astype(np.float32))
    view, shown = view_of(bg, y, x=(0, n - 1), y=(0, 1))
    y[...] = 7  # the plot has the samples that it was called with
    reads = bg.init().recorder.counters["readbacks"]
    left, top = view._frame.left, view._frame.top
    middle = left + 0.5 + (plots.WIDTH - 1) / 2
    # Below the curves, only the x axis zooms: from 4000 samples to 4 around the middle.
    view.take([["zoom", middle, top + plots.HEIGHT + 9, 10.0]] * 3)
    x_axis, y_axis = view._shown
    np.testing.assert_allclose([x_axis.low, x_axis.high], [1998, 2002])
    assert (y_axis.low, y_axis.high) == (0, 1)
    assert len(shown) == 2, "one picture for all input"
    assert bg.init().recorder.counters["readbacks"] == reads, "samples were read back"
    picture = np.asarray(shown[-1])
    left, top = view._frame.left, view._frame.top  # the labels have another width
    blue = picture[..., 0] < 0.5 * picture[..., 2]
    for part, row in ((0, 1), (0.25, 0), (0.5, 1), (0.75, 0), (1, 1)):
        column = left + round(part * (plots.WIDTH - 1))
        at = top + round(row * (plots.HEIGHT - 1))
        assert blue[at - 1 : at + 2, column - 1 : column + 2].any(), (part, row)
    assert view.value_at(left + 0.5, top + 0.5) == "x = 1998, y = 1"
    view.take([["pan", (plots.WIDTH - 1) / 4, 0]])
    np.testing.assert_allclose([view._shown[0].low, view._shown[0].high], [1997, 2001])
    view.take([["all"]])
    assert view._shown == view._whole


def test_zoom_stops_at_the_resolution_of_float32_and_near_the_curve(bg: Any) -> None:
    view, _ = view_of(bg, np.float32([0, 1, 4]), x=(1000, 1010), y=(0, 1))
    middle = view._frame.left + plots.WIDTH / 2, view._frame.top + plots.HEIGHT / 2
    view.take([["zoom", *middle, 10.0]] * 40)
    low, high = view._shown[0].low, view._shown[0].high
    assert 1004 < low < high < 1006
    assert np.float32(low) != np.float32(high)
    view.take([["zoom", *middle, 0.1]] * 40)
    assert view._shown[0].high - view._shown[0].low == pytest.approx(100)
    view.take([["pan", 1e6, 1e6]])
    assert view._shown[0].low <= 1000 <= view._shown[0].high


def test_the_user_s_ranges_stay_in_a_loop(bg: Any) -> None:
    first, _ = view_of(bg, np.float32([0, 1]), x=(0, 1), y=(0, 1))
    second, _ = view_of(bg, np.float32([0, 2]), x=(0, 2), y=(0, 2))
    second.look_as(first)
    assert second._shown == second._whole, "nobody has zoomed"
    first.take([["pan", 10, 0]])
    second.look_as(first)
    assert second._shown == first._shown
    second.take([["all"]])
    assert second._shown[0].high == 2


def test_ticks_of_a_log_axis_within_a_decade() -> None:
    places, texts = plots.Axis(2, 5, True).ticks(6)
    assert len(texts) >= 3
    np.testing.assert_allclose(
        places, np.log10(np.array(texts, float) / 2) / np.log10(2.5), atol=1e-6
    )


@pytest.mark.parametrize(
    ("args", "options", "name"),
    [
        ((), {}, "args"),
        (("-",), {}, "args"),
        ((3,), {}, "y"),
        (([1.0], [1.0, 2.0]), {}, "y"),
        (([[1.0]],), {}, "y"),
        (([1.0], "--"), {}, "format"),
        (([1.0], "rg"), {}, "format"),
        (([1.0], "r"), {"color": "b"}, "color"),
        (([1.0],), {"color": "red"}, "color"),
        (([1.0],), {"label": ["a", "b"]}, "label"),
        (([1.0],), {"label": 3}, "label"),
        (([1.0],), {"linewidth": 0}, "linewidth"),
        (([1.0],), {"alpha": 2}, "alpha"),
        (([1.0],), {"xlim": (1, 1)}, "xlim"),
        (([1.0],), {"ylim": 3}, "ylim"),
        (([1.0],), {"ylim": (0, 1), "yscale": "log"}, "ylim"),
        (([1.0],), {"xscale": "symlog"}, "xscale"),
        (([1.0],), {"title": 3}, "title"),
        (([1.0],), {"dark": 1}, "dark"),
    ],
)
def test_wrong_arguments_are_refused(bg: Any, args: Any, options: Any, name: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"plot: {name} must "):
        bg.plot(*args, **options)


def test_ticks_of_long_axes() -> None:
    for high in (1e9, 1e300):
        places, texts = plots.Axis(0, high, False).ticks(5)
        assert (places, texts[-1]) == ([0.0, 0.5, 1.0], f"{high:g}")
