"""The gradients of convolutions for their filters, by the kernel that reads its operands in place.

The reference is in float64. The tolerance is 64 roundings of the largest element: a sum has up to
6,400 terms, in blocks of 256.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.spies import dispatched

pytestmark = pytest.mark.native

#: Shapes of images and filters, and options.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "several tiles": ((2, 8, 9, 11), (70, 8, 3, 3), {"padding": 1}),
    "stride": ((2, 3, 20, 21), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    "groups": ((2, 12, 9, 8), (24, 6, 3, 3), {"groups": 2, "padding": 1}),
    "dilation": ((2, 8, 12, 13), (8, 8, 3, 2),
                 {"dilation": (2, 3), "stride": (1, 2), "padding": (1, 2)}),
    "point": ((2, 32, 7, 7), (16, 32, 1, 1), {"stride": 2}),
    "small images": ((40, 8, 4, 5), (16, 8, 3, 3), {}),  # a tile has the pixels of several
    "one axis": ((3, 16, 50), (24, 16, 5), {"padding": 2}),
    "one image": ((8, 20, 21), (16, 8, 3, 3), {}),
    "one window of a stride over 16 bits": ((2, 8, 70_000), (16, 8, 3), {"stride": 70_000}),
    "several parts": ((4, 4, 40, 40), (16, 4, 3, 3), {"padding": 1}),
}  # fmt: skip


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")


def _each(value: Any, rank: int) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,) * rank


def wanted(x: np.ndarray, g: np.ndarray, filters: tuple[int, ...], options: dict[str, Any]) -> Any:
    """Return the gradient for the filters of the convolution of x with the result's gradient g."""
    rank, groups = len(filters) - 2, options.get("groups", 1)
    stride, margin, dilation = (
        _each(options.get(name, usual), rank)
        for name, usual in (("stride", 1), ("padding", 0), ("dilation", 1))
    )
    x, g = (v.reshape((-1, *v.shape[-rank - 1 :])).astype("float64") for v in (x, g))
    x = np.pad(x, [(0, 0), (0, 0), *[(n, n) for n in margin]])
    found = np.zeros(filters)
    count, depth = filters[0] // groups, filters[1]
    for place in np.ndindex(filters[2:]):
        key = tuple(
            slice(n * gap, n * gap + (extent - 1) * step + 1, step)
            for n, gap, extent, step in zip(place, dilation, g.shape[2:], stride, strict=True)
        )
        seen = x[(slice(None), slice(None), *key)]
        for group in range(groups):
            of_group = slice(group * count, (group + 1) * count)
            left = np.moveaxis(g[:, of_group], 1, 0).reshape(count, -1)
            right = np.moveaxis(seen[:, group * depth : (group + 1) * depth], 1, 0)
            found[(of_group, slice(None), *place)] = left @ right.reshape(depth, -1).T
    return found


def near(found: Any, expected: np.ndarray) -> None:
    atol = 64 * float(np.finfo("float32").eps) * float(np.abs(expected).max())
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=atol)


def check(bg: Any, case: str) -> None:
    shape, filters, options = CASES[case]
    conv = getattr(bg.nn, f"conv{len(filters) - 2}d")
    x, w = numbers(*shape), numbers(*filters, seed=1)
    g = numbers(*conv(bg.asarray(x), bg.asarray(w), **options).shape, seed=2)
    own, of_result = bg.asarray(x), bg.asarray(g)
    f = bg.grad(lambda w: (conv(own, w, **options) * of_result).sum())
    with dispatched(own.device) as kernels:
        found = f(bg.asarray(w))
        bg.eval(found)
    near(found, wanted(x, g, filters, options))
    assert "conv2d_filters" in kernels
    assert not any(name.startswith(("gemm", "strided", "transpose")) for name in kernels)


@pytest.mark.fast
def test_filter_gradients_of_several_tiles(bg: Any) -> None:
    check(bg, "several tiles")


@pytest.mark.parametrize("case", CASES)
def test_filter_gradients(bg: Any, case: str) -> None:
    check(bg, case)


@pytest.mark.parametrize("output_padding", [0, 1])
def test_filter_gradients_of_transposed_convolutions(bg: Any, output_padding: int) -> None:
    options = {"stride": 2, "padding": 1}
    x, w = numbers(2, 16, 5, 6), numbers(16, 8, 3, 3, seed=1)
    own = bg.asarray(x)

    def up(w: Any) -> Any:
        return bg.nn.conv_transpose2d(own, w, output_padding=output_padding, **options)

    g = numbers(*up(bg.asarray(w)).shape, seed=2)
    with dispatched(own.device) as kernels:
        found = bg.grad(lambda w: (up(w) * bg.asarray(g)).sum())(bg.asarray(w))
        bg.eval(found)
    assert "conv2d_filters" in kernels
    near(found, wanted(g, x, w.shape, options))


def test_nan_outside_the_windows_stays_outside(bg: Any) -> None:
    """Elements that no window reaches, and lines past a tile's last, add nothing."""
    x, w, g = numbers(1, 4, 6, 6), numbers(9, 4, 3, 3), numbers(1, 9, 2, 2)
    x[:, :, 5] = np.nan  # stride 2 leaves the last row and column out
    x[:, :, :, 5] = np.nan
    own, of_result = bg.asarray(x), bg.asarray(g)
    f = bg.grad(lambda w: (bg.nn.conv2d(own, w, stride=2) * of_result).sum())
    near(f(bg.asarray(w)), wanted(np.nan_to_num(x), g, w.shape, {"stride": 2}))
