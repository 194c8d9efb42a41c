"""Pictures for ``bg.draw``: colors, ranges, enlargement, layout, and refused options.

test_draw_options.py compares them on the canvas, and with Matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.images import colormaps, drawing, figures

X = np.random.default_rng(3).normal(size=(9, 13)).astype(np.float32)
X[2, 3], X[4, 5], X[6, 7] = np.nan, np.inf, -np.inf


def picture(bg: Any, x: Any, **options: Any) -> np.ndarray:
    colors = {name: options.pop(name, None) for name in ("cmap", "vmin", "vmax", "nan")}
    parts = {"colorbar": False, "axes": False, "title": None, "interpolation": None, **options}
    found, _ = drawing.picture(
        "draw",
        bg.asarray(x),
        lambda: pytest.fail("there is no canvas"),
        colors=drawing.Colors(**colors),
        parts=drawing.Parts(**parts),
    )
    return np.asarray(found)


def expected(
    x: np.ndarray, colors: np.ndarray, low: float | None, high: float | None, nan: Any
) -> np.ndarray:
    """Return the RGBA image as Matplotlib defines it."""
    finite = np.isfinite(x)
    low = x[finite].min() if low is None else low
    high = x[finite].max() if high is None else high
    part = (x - low) / (high - low) if high > low else np.zeros_like(x)
    with np.errstate(invalid="ignore"):
        place = np.clip(part * len(colors), 0, len(colors) - 1).astype(int)
    place[~finite] = 0
    image = colors[place]
    image[~finite] = nan
    return image


@pytest.mark.parametrize("low", [None, -1.0])
@pytest.mark.parametrize("high", [None, 0.5])
@pytest.mark.parametrize("cmap", ["viridis", "RdBu_r"])
def test_a_colormap_covers_the_range(bg: Any, cmap: str, low: Any, high: Any) -> None:
    table = colormaps.colormap("draw", cmap)
    got = picture(bg, X, cmap=cmap, vmin=low, vmax=high)
    np.testing.assert_array_equal(got, expected(X, table, low, high, [0, 0, 0, 0]))


def test_colors_of_nan_and_own_colormaps(bg: Any) -> None:
    table = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    colors = np.array([(*one, 1) for one in table], np.float32)
    got = picture(bg, X, cmap=table, nan="#ff8000")
    np.testing.assert_array_equal(
        got, expected(X, colors, None, None, np.float32([1, 128 / 255, 0, 1]))
    )
    got = picture(bg, X, nan=(0, 0, 1, 0.5))  # the range stays 0 to 1
    gray = colormaps.colormap("draw", "gray")
    np.testing.assert_array_equal(got, expected(X, gray, 0, 1, [0, 0, 1, 0.5]))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, bool, np.float16])
def test_real_dtypes_have_colors(bg: Any, dtype: Any) -> None:
    x = np.arange(12).reshape(3, 4).astype(dtype)
    table = colormaps.colormap("draw", "magma")
    wanted = expected(x.astype(np.float32), table, None, None, 0)
    np.testing.assert_array_equal(picture(bg, x, cmap="magma"), wanted)
    np.testing.assert_array_equal(picture(bg, x[..., None], cmap="magma"), wanted)


def test_constant_and_unknown_values_have_a_color(bg: Any) -> None:
    table = colormaps.colormap("draw", "turbo")
    assert (picture(bg, np.full((2, 2), 7.0, np.float32), cmap="turbo") == table[0]).all()
    nothing = picture(bg, np.full((2, 2), np.nan, np.float32), cmap="turbo", nan="#00ff00")
    assert (nothing == [0, 1, 0, 1]).all()


def test_interpolation_enlarges_narrow_images(bg: Any) -> None:
    x = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    near = picture(bg, x, interpolation="nearest")
    np.testing.assert_array_equal(near, np.kron(x, np.ones((64, 64), np.float32)))
    smooth = picture(bg, x, interpolation="bilinear")
    assert smooth.shape == (192, 256)
    # The values halfway between two pixel centers.
    np.testing.assert_allclose(smooth[31, 63:65].mean(), (x[0, 0] + x[0, 1]) / 2, atol=1e-4)
    table = colormaps.colormap("draw", "viridis")
    colored = picture(bg, x, interpolation="bilinear", cmap="viridis", vmin=0, vmax=1)
    np.testing.assert_array_equal(colored, expected(smooth, table, 0, 1, 0))
    wide = np.zeros((2, 300), np.float32)
    assert picture(bg, wide, interpolation="bilinear").shape == (2, 300)


IMAGE = np.zeros((4, 4, 3), np.float32)
REFUSED = [
    (X, {"cmap": "jet"}, InvalidArgument, "cmap must be one of viridis"),
    (X, {"cmap": 3}, InvalidArgument, "cmap must be a name"),
    (X, {"cmap": [[0, 0, 0]]}, InvalidArgument, "n ≥ 2"),
    (X, {"cmap": [[0, 0, 2], [0, 0, 0]]}, InvalidArgument, "from 0 to 1"),
    (X, {"vmin": 2, "vmax": 1}, InvalidArgument, "vmin must be at most vmax"),
    (X, {"vmin": np.inf}, InvalidArgument, "vmin must be a finite"),
    (X, {"vmin": "0"}, InvalidArgument, "vmin"),
    (X, {"nan": "red"}, InvalidArgument, "nan must be a color"),
    (X, {"nan": (0, 0, 2)}, InvalidArgument, "nan must be a color"),
    (X, {"nan": 1}, InvalidType, "nan must be a color"),
    (X, {"interpolation": "cubic"}, InvalidArgument, "one of nearest, bilinear"),
    (X, {"title": 3}, InvalidType, "title must be a str"),
    (X, {"colorbar": 2}, InvalidArgument, "colorbar"),
    (X, {"axes": "on"}, InvalidArgument, "axes"),
    (IMAGE, {"cmap": "gray"}, InvalidArgument, "cmap must be left out"),
    (IMAGE, {"vmax": 1}, InvalidArgument, "vmax must be left out"),
    (IMAGE, {"nan": "#000000"}, InvalidArgument, "nan must be left out"),
    (IMAGE, {"colorbar": True}, InvalidArgument, "colorbar must be left out"),
    (np.ones((2, 2), np.int32), {}, InvalidType, "x must be floats"),
    (X.astype(np.complex64), {"cmap": "gray"}, InvalidType, "x must be real"),
]


@pytest.mark.parametrize(("x", "options", "kind", "told"), REFUSED)
def test_invalid_options_are_refused(
    bg: Any, x: np.ndarray, options: dict[str, Any], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        picture(bg, x, **options)


def test_ticks_are_round_numbers_within_the_range() -> None:
    for low, high in [(0, 1), (-3, 7), (0.1, 0.1003), (-1e-8, 2e-8), (0, 6e7), (5, 5)]:
        values = figures.ticks(low, high)
        assert 1 <= len(values) <= figures.MOST_TICKS + 1
        slack = 1e-6 * (high - low)
        assert all(low - slack <= value <= high + slack for value in values)
        texts = figures.labels(values)
        assert len(set(texts)) == len(values)
        np.testing.assert_allclose([float(text) for text in texts], values, rtol=0.1, atol=slack)


def test_parts_of_a_frame_are_inside_and_apart() -> None:
    made = figures.frame((20, 30), 9, axes=True, title="A title", bar_range=(-1, 1))
    for left, top, width, height in made.lines:
        assert min(left, top) >= 0
        assert left + width <= made.width
        assert top + height <= made.height
    assert made.bar is not None
    assert made.bar[1] > made.left + 30 * 9
    assert [text for text, *_ in made.texts][:2] == ["A title", "0"]
    plain = figures.frame((20, 30), 9, axes=False, title=None, bar_range=None)
    assert plain.texts == []
    assert (plain.height, plain.width) < (made.height, made.width)
