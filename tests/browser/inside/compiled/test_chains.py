"""Captured blocks: kernels of products compute chains of elementwise operations on their results.

A chain has the operations of the separate kernel, so NaN and infinities are equal. The tolerance is
that of :func:`near`, as kernels differ in the order of sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsergpu.engine.kernels.base import chains
from browsergpu.engine.kernels.variants import VARIANTS
from inside.compiled.merging import both, data, near
from inside.compiled.test_optimized_convolutions import CASES, operands
from inside.gpu import only_variant

pytestmark = pytest.mark.native


def chain(bg: Any, name: str, y: Any) -> Any:
    """Compute a chain of operations on y, which may be read several times."""
    match name:
        case "relu6":
            return bg.minimum(bg.maximum(y, 0), 6)
        case "sigmoid":
            return bg.nn.sigmoid(y)
        case "silu":
            return y * bg.nn.sigmoid(y)
        case "hard swish":
            return y * bg.clip(y + 3, 0, 6) / 6
        case "hard swish of a hard sigmoid":
            return y * bg.clip(y * (1 / 6) + 0.5, 0, 1)
        case "gelu":
            return y * 0.5 * (1 + bg.special.erf(y / 2**0.5))
        case "gelu by tanh":
            return 0.5 * y * (1 + bg.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
        case "leaky":
            return bg.where(y > 0, y, y * 0.01)
        case "silu and limit":
            return bg.minimum(bg.nn.silu(y), 1)
        case "mish":
            return y * bg.tanh(bg.log1p(bg.exp(bg.minimum(y, 20))))
    raise AssertionError(name)


NAMES = (
    "relu6", "sigmoid", "silu", "hard swish", "hard swish of a hard sigmoid", "gelu",
    "gelu by tanh", "leaky", "silu and limit", "mish",
)  # fmt: skip


def check(bg: Any, f: Any, *args: Any) -> None:
    """Check that the product and everything that follows it is one kernel."""
    (merged,) = both(bg, f, *args)
    fast = bg.jit(f)
    for _ in range(3):
        fast(*args)
    assert fast.explain().variants[0]["kernels"] == 1, merged


@pytest.mark.fast
def test_a_product_computes_a_chain(bg: Any) -> None:
    x, w, b = data(bg, 7, 9), data(bg, 9, 5), data(bg, 5)
    check(bg, lambda x, w, b: chain(bg, "hard swish", x @ w + b), x, w, b)


@pytest.mark.parametrize("name", ["relu6", "gelu"])
@pytest.mark.parametrize("shapes", [((7, 9), (9, 5)), ((1, 33), (33, 130)), ((3, 4, 6), (3, 6, 5))])
def test_chains_of_matrix_products(bg: Any, shapes: Any, name: str) -> None:
    x, w = (data(bg, *shape, seed=n) for n, shape in enumerate(shapes))
    b, h = data(bg, shapes[1][-1]), data(bg, *(x @ w).shape, seed=5)
    check(bg, lambda x, w: chain(bg, name, x @ w), x, w)
    check(bg, lambda x, w, b, h: chain(bg, name, x @ w + b) + h, x, w, b, h)


@pytest.mark.parametrize("name", ["relu6", "silu"])
@pytest.mark.parametrize("groups", [1, 6])
def test_chains_of_convolutions(bg: Any, groups: int, name: str) -> None:
    x, w = data(bg, 2, 6, 9, 8), data(bg, 12, 6 // groups, 3, 3, seed=1)
    b, h = data(bg, 12, 1, 1), data(bg, 2, 12, 9, 8, seed=3)

    def conv(x: Any, w: Any) -> Any:
        return bg.nn.conv2d(x, w, padding=1, groups=groups)

    check(bg, lambda x, w: chain(bg, name, conv(x, w)), x, w)
    check(bg, lambda x, w, b, h: chain(bg, name, conv(x, w) + b) + h, x, w, b, h)
    check(bg, lambda x, w, b, h: chain(bg, name, conv(x, w) + b + h), x, w, b, h)


def test_one_chain_before_and_after_a_residual(bg: Any) -> None:
    x, w, h = data(bg, 1, 4, 6, 6), data(bg, 5, 4, 1, 1), data(bg, 1, 5, 6, 6)

    def twice(x: Any, w: Any, h: Any) -> Any:
        return chain(bg, "relu6", chain(bg, "relu6", bg.nn.conv2d(x, w)) + h)

    def different(x: Any, w: Any, h: Any) -> Any:
        return chain(bg, "leaky", chain(bg, "relu6", bg.nn.conv2d(x, w)) + h)

    check(bg, twice, x, w, h)
    assert both(bg, different, x, w, h) == ["conv2d with maximum, minimum, add"]


@pytest.mark.parametrize("name", [variant.name for variant in VARIANTS["conv2d"]])
def test_each_variant_of_convolutions(bg: Any, name: str) -> None:
    with only_variant(bg.ones(1).device, "conv2d", name):
        for case in CASES:
            x, w, _, _, h, conv = operands(bg, case)
            merged = both(bg, lambda x, w, h, c=conv: chain(bg, "relu6", c(x, w)) + h, x, w, h)
            assert merged == ["conv2d with maximum, minimum, add"]


@pytest.mark.parametrize("name", [variant.name for variant in VARIANTS["gemm"]])
def test_each_variant_of_products(bg: Any, name: str) -> None:
    with only_variant(bg.ones(1).device, "gemm", name):
        for shapes in (((8, 16), (16, 8)), ((3, 4, 5), (3, 5, 2)), ((1, 2048), (2048, 3))):
            x, w = (data(bg, *shape, seed=n) for n, shape in enumerate(shapes))
            merged = both(bg, lambda x, w: chain(bg, "relu6", x @ w), x, w)
            assert merged == ["matmul with maximum, minimum"]


@pytest.mark.parametrize("name", NAMES)
def test_nan_and_infinities(bg: Any, name: str) -> None:
    x = bg.asarray(np.float32([[np.nan], [np.inf], [-np.inf], [0], [-0.0], [1e38], [-90], [2]]))
    w = bg.asarray(np.float32([[1, -1, 10]]))
    fast, plain = (bg.jit(lambda x, w: chain(bg, name, x @ w), optimize=o) for o in (True, False))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(fast(x, w)), np.asarray(plain(x, w)))
    assert fast.explain().variants[0]["kernels"] == 1


@pytest.mark.parametrize("name", ["silu", "hard swish"])
def test_float16(bg: Any, name: str) -> None:
    x, w = data(bg, 16, 24, dtype="float16"), data(bg, 24, 32, dtype="float16", seed=1)
    images, filters = data(bg, 1, 4, 6, 6, dtype="float16"), data(bg, 8, 4, 3, 3, dtype="float16")
    check(bg, lambda x, w: chain(bg, name, x @ w), x, w)
    assert len(both(bg, lambda x, w: chain(bg, name, bg.nn.conv2d(x, w)), images, filters)) == 1


@pytest.mark.parametrize("extent", [6, 7])
def test_float16_depthwise_convolutions(bg: Any, extent: int) -> None:
    x = data(bg, 2, 6, extent, extent, dtype="float16")
    w, b = data(bg, 6, 1, 3, 3, dtype="float16"), data(bg, 6, 1, 1, dtype="float16")
    h = data(bg, 2, 6, extent, extent, dtype="float16", seed=3)

    def conv(x: Any, w: Any) -> Any:
        return bg.nn.conv2d(x, w, padding=1, groups=6)

    check(bg, lambda x, w: chain(bg, "relu6", conv(x, w)), x, w)
    check(bg, lambda x, w, h: bg.nn.relu(conv(x, w)) + h, x, w, h)
    (merged,) = both(bg, lambda x, w, b, h: chain(bg, "silu", conv(x, w) + b) + h, x, w, b, h)
    assert merged.startswith("conv2d with add, ")


def test_casts_inside_a_chain(bg: Any) -> None:
    x, w = data(bg, 16, 24, dtype="float16"), data(bg, 24, 32, dtype="float16", seed=1)

    def f(x: Any, w: Any) -> Any:
        y = (x @ w).astype("float32")
        return (y * bg.nn.sigmoid(y)).astype("float16")

    check(bg, f, x, w)


def test_values_that_arrays_hold_are_kept(bg: Any) -> None:
    x, w = data(bg, 4, 6), data(bg, 6, 5)

    def held(x: Any, w: Any) -> Any:
        y = x @ w
        gate = bg.nn.sigmoid(y)
        return y * gate, gate

    def limited(x: Any, w: Any) -> Any:
        y = bg.maximum(x @ w, 0)
        return bg.minimum(y, 6), y

    assert both(bg, held, x, w) == []
    assert both(bg, limited, x, w) == ["matmul with maximum"]


def test_values_that_gradients_need(bg: Any) -> None:
    x, w = data(bg, 2, 3, 6, 6), data(bg, 4, 3, 3, 3, seed=1)

    def loss(w: Any, x: Any) -> Any:
        y = bg.nn.conv2d(x, w)
        z = y * bg.clip(y + 3, 0, 6) / 6
        return (bg.minimum(bg.maximum(z, 0), 6) ** 2).sum()

    gradient = bg.autograd.grad(loss) if hasattr(bg.autograd, "grad") else bg.grad(loss)
    fast, plain = bg.jit(gradient), bg.jit(gradient, optimize=False)
    for _ in range(3):
        near(fast(w, x), plain(w, x))
        near(fast(w, x), gradient(w, x))


def test_many_numbers_do_not_compile_many_kernels(bg: Any) -> None:
    x, w = data(bg, 4, 6), data(bg, 6, 5)

    def f(x: Any, w: Any, limit: float) -> Any:
        return bg.minimum(bg.maximum(x @ w, -limit), limit)

    merged = [both(bg, lambda x, w, n=n: f(x, w, 0.1 * n), x, w) for n in range(1, 12)]
    assert merged[:2] == [["matmul with maximum, minimum"]] * 2
    assert merged[-1] == []
    assert len([one for one in merged if one]) <= chains._MOST_ALIKE
