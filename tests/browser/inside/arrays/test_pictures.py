"""Images that ``bg.draw`` and ``bg.plot`` return outside of a page: their pixels and files."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.functions.interchange import display

pytestmark = pytest.mark.native
outside = pytest.mark.skipif(sys.platform == "emscripten", reason="a page has canvases")


def pixels(png: bytes) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(png)))


@pytest.mark.fast
def test_the_file_is_read_once_and_shows_the_values_of_the_call(bg: Any, tmp_path: Path) -> None:
    x = bg.asarray(np.float32([[0, 0.5, 1], [-1, 2, np.nan]]))
    made = display.returned("draw", x, "left")
    x[...] = 1
    assert repr(made) == "<Picture of 3 × 2 on left>"
    made.save(tmp_path / "one.png")
    before = bg.init().recorder.counters["readbacks"]
    made.save(str(tmp_path / "other.PNG"))
    assert bg.init().recorder.counters["readbacks"] == before
    files = [(tmp_path / name).read_bytes() for name in ("one.png", "other.PNG")]
    assert files == [made._repr_png_()] * 2
    assert files[0].startswith(b"\x89PNG")
    with pytest.raises(InvalidArgument, match=r"save: path must be the name of a \.png file"):
        made.save(tmp_path / "one.jpg")
    with pytest.raises(InvalidType, match="save: path must be a str or a path"):
        made.save(3)
    with pytest.raises(InvalidType, match="draw: canvas_id must be a str"):
        display.returned("draw", x, 3)  # type: ignore[arg-type]


@outside
def test_images_without_parts(bg: Any) -> None:
    gray = pixels(bg.draw(bg.asarray(np.float32([[0, 0.5, 1], [-1, 2, np.nan]])))._repr_png_())
    np.testing.assert_array_equal(gray, [[0, 128, 255], [0, 255, 0]])
    for channels in (3, 4):
        color = np.random.default_rng(channels).integers(0, 256, (5, 7, channels), np.uint8)
        np.testing.assert_array_equal(pixels(bg.draw(bg.asarray(color))._repr_png_()), color)
    with pytest.raises(Unsupported, match="draw: on_pointer needs a page"):
        bg.draw(bg.ones((2, 2)), on_pointer=print)


@outside
def test_a_drawing_with_axes_and_a_plot(bg: Any) -> None:
    x = bg.asarray(np.tile(np.linspace(0, 1, 8, dtype=np.float32), (6, 1)))
    made = bg.draw(x, cmap="viridis", axes=True, colorbar=True, title="Six rows")
    shown = pixels(made._repr_png_())
    assert shown.shape == (made.height, made.width, 3)
    first = np.abs(shown.astype(int) - (68, 1, 84)).max(axis=2) <= 1
    assert first.any(axis=1).sum() >= 6 * 32, "the first column, and the end of the colorbar"
    dark = shown.max(axis=2) < 128
    assert dark[:24].sum() > 50, "the title"
    made = bg.plot(bg.arange(9.0), "r", xlim=(0, 8), ylim=(0, 8), xlabel="s", ylabel="volts")
    shown = pixels(made._repr_png_())
    red = (shown == (255, 0, 0)).all(axis=2)
    rows, columns = np.nonzero(red)
    assert columns.max() - columns.min() >= 558
    assert rows.max() - rows.min() >= 318
    assert rows[columns == columns.min()].min() > rows[columns == columns.max()].max(), "it rises"
    dark = shown.max(axis=2) < 128
    height = made.height
    beside = np.nonzero(dark[:, :16].any(axis=1))[0]
    assert 20 < beside.max() - beside.min() < 80, "the ylabel reads upwards"
    assert abs((beside.max() + beside.min()) / 2 - height / 2) < 30
    assert dark[height - 20 :].any(), "the xlabel"


@outside
def test_texts_need_pillow(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Unsupported, match="pip install pillow"):
        bg.plot(bg.arange(3.0))
    assert bg.draw(bg.ones((2, 2))).width == 2
