"""Gradients of convolutions and of padding against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays import nn_reference as nn
from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(0)
#: Shapes of input and filters, and the settings: stride, padding, dilation, groups.
CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((2, 2, 4, 5), (3, 2, 3, 2), {}),
    "point": ((1, 3, 2, 3), (2, 3, 1, 1), {}),
    "stride does not divide": ((1, 2, 6, 5), (2, 2, 3, 2), {"stride": (2, 3), "padding": (0, 1)}),
    "dilated": ((2, 1, 6, 5), (2, 1, 2, 3), {"dilation": (3, 2), "padding": (1, 2)}),
    "groups": ((2, 4, 3, 3), (6, 2, 2, 2), {"groups": 2, "stride": 2, "padding": 1}),
    "depthwise": ((1, 3, 4, 3), (3, 1, 3, 3), {"groups": 3, "padding": 1}),
    "all": ((1, 2, 7, 8), (4, 1, 2, 3), {"groups": 2, "stride": (3, 2), "padding": (2, 3),
                                        "dilation": (2, 3)}),
    "one axis": ((2, 2, 7), (3, 2, 3), {"stride": 2, "padding": 1}),
    "three axes": ((1, 2, 3, 4, 3), (2, 2, 2, 3, 2), {"stride": (2, 1, 2), "padding": (1, 0, 1)}),
}  # fmt: skip


def _numbers(shape: tuple[int, ...]) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def _each(value: Any, rank: int) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,) * rank


def _convolved(x: np.ndarray, w: np.ndarray, b: Any, settings: dict[str, Any]) -> np.ndarray:
    rank = w.ndim - 2
    names = (("stride", 1), ("padding", 0), ("dilation", 1))
    along = [_each(settings.get(name, usual), rank) for name, usual in names]
    found = nn.convolved(x, w, *along, settings.get("groups", 1))
    return found + np.reshape(b, (-1, *(1,) * rank))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(bg: Any, name: str) -> None:
    shape, filters, settings = CONVOLUTIONS[name]
    function = getattr(bg.nn, f"conv{len(shape) - 2}d")
    arrays = [_numbers(shape), _numbers(filters), _numbers(filters[:1])]
    gradients_agree(
        bg, lambda x, w, b: function(x, w, b, **settings),
        lambda x, w, b: _convolved(x, w, b, settings), arrays,
    )  # fmt: skip


def test_one_image_and_names_of_padding(bg: Any) -> None:
    x, w = _numbers((2, 4, 5)), _numbers((2, 2, 2, 3))
    for padding in ("same", "valid"):
        gradients_agree(
            bg, lambda x, w, p=padding: bg.nn.conv2d(x, w, padding=p, dilation=(1, 1)),
            lambda x, w, p=padding: nn.convolved(
                np.pad(x[None], [(0, 0), (0, 0), (0, 1), (1, 1)]) if p == "same" else x[None],
                w, (1, 1), (0, 0), (1, 1), 1,
            )[0], [x, w],
        )  # fmt: skip


@pytest.mark.parametrize("nbytes", [1, 700])
@pytest.mark.parametrize("name", ["stride does not divide", "groups"])
def test_filters_in_parts(bg: Any, monkeypatch: pytest.MonkeyPatch, name: str, nbytes: int) -> None:
    """One product per kernel position, or per few rows of the kernel."""
    from browsergpu.functions.nn import convolution_gradients

    monkeypatch.setattr(convolution_gradients, "_BYTES", nbytes)
    test_convolutions(bg, name)
    test_second_gradients(bg, name)


@pytest.mark.parametrize("name", ["stride does not divide", "groups"])
def test_second_gradients(bg: Any, name: str) -> None:
    shape, filters, settings = CONVOLUTIONS[name]
    arrays = [_numbers(shape), _numbers(filters)]
    second_gradients_agree(
        bg, lambda x, w: bg.nn.conv2d(bg.square(x), w, **settings),
        lambda x, w: _convolved(np.square(x), w, 0, settings), arrays,
    )  # fmt: skip


#: The same for transposed convolutions, with output_padding.
TRANSPOSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((2, 2, 3, 2), (2, 3, 2, 3), {}),
    "stride": ((1, 2, 3, 2), (2, 2, 3, 2), {"stride": (2, 3), "padding": 1,
                                           "output_padding": (1, 2)}),
    "dilated": ((1, 2, 2, 3), (2, 1, 2, 2), {"dilation": (3, 2), "padding": (1, 0),
                                            "output_padding": (2, 1)}),
    "groups": ((2, 4, 2, 2), (4, 1, 2, 2), {"groups": 2, "stride": 2}),
    "one axis": ((1, 2, 4), (2, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    "three axes": ((1, 1, 2, 2, 2), (1, 2, 2, 2, 2), {"stride": (2, 1, 1)}),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolutions(bg: Any, name: str) -> None:
    shape, filters, settings = TRANSPOSED[name]
    rank, groups = len(shape) - 2, settings.get("groups", 1)
    function = getattr(bg.nn, f"conv_transpose{rank}d")
    names = (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1))
    along = [_each(settings.get(name, usual), rank) for name, usual in names]

    def theirs(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        return nn.transposed(x, w, *along, groups) + np.reshape(b, (-1, *(1,) * rank))

    arrays = [_numbers(shape), _numbers(filters), _numbers((filters[1] * groups,))]
    gradients_agree(bg, lambda x, w, b: function(x, w, b, **settings), theirs, arrays)


@pytest.mark.parametrize(
    ("mode", "theirs"),
    [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")],
)
def test_pad(bg: Any, mode: str, theirs: str) -> None:
    def ours(x: Any) -> Any:
        return bg.nn.pad(x, (2, 1, 0, 2), mode)

    def padded(x: np.ndarray) -> np.ndarray:
        return np.pad(x, [(0, 0), (0, 2), (2, 1)], theirs)

    x = _numbers((2, 3, 4))
    gradients_agree(bg, ours, padded, [x])
    gradients_agree(bg, ours, padded, [(x[:1] + 1j * x[1:]).astype(np.complex64)])
    second_gradients_agree(
        bg, lambda x: ours(bg.square(x)), lambda x: padded(np.square(x)), [x[:1]]
    )


def test_pad_that_takes_away(bg: Any) -> None:
    gradients_agree(
        bg, lambda x: bg.nn.pad(x, (-1, 2, 1, -2), value=3.0),
        lambda x: np.pad(x[:-2, 1:], [(1, 0), (0, 2)], constant_values=3.0), [_numbers((4, 3))],
    )  # fmt: skip
