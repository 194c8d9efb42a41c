"""Captured blocks: matrix product kernels compute the operations that follow.

Results may differ from ``jit(optimize=False)`` by rounding. In float32, the operations and their
order are the same, so only activations differ, by a few units in the last place. In float16, the
plain result is rounded after each operation, and the merged result once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.compiled.merging import both, data, near

pytestmark = pytest.mark.native


SHAPES = [
    ((7, 9), (9, 5)),
    ((64, 48), (48, 32)),
    ((1, 33), (33, 130)),
    ((130, 300), (300, 3)),
    ((3, 4, 6), (6, 8)),
    ((3, 4, 6), (3, 6, 5)),
    ((2, 1, 5, 6), (3, 6, 7)),
]


@pytest.mark.fast
def test_one_kernel_computes_a_product_and_the_operations_on_it(bg: Any) -> None:
    x, w, b, h = data(bg, 7, 9), data(bg, 9, 5), data(bg, 5), data(bg, 7, 5)
    merged = both(bg, lambda x, w, b, h: bg.nn.gelu(x @ w * 0.5 + b) + h, x, w, b, h)
    assert merged == ["matmul with multiply, add, gelu, add"]
    f = bg.jit(lambda x, w, b, h: bg.nn.gelu(x @ w * 0.5 + b) + h)
    for _ in range(3):
        f(x, w, b, h)
    assert "1 x matmul with multiply, add, gelu, add in one" in str(f.explain())
    assert f.explain().variants[0]["kernels"] == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_bias_activation_and_residual_of_each_shape(bg: Any, shapes: Any, dtype: str) -> None:
    x, w = (data(bg, *shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes))
    shape = (x @ w).shape
    b, h = data(bg, shape[-1], dtype=dtype), data(bg, *shape, dtype=dtype)
    for f in (
        lambda x, w, b, h: x @ w + b,
        lambda x, w, b, h: h + x @ w * -0.25,
        lambda x, w, b, h: bg.maximum(b + x @ w, 0) + h,
        lambda x, w, b, h: bg.nn.silu(x @ w),
        lambda x, w, b, h: bg.nn.gelu(x @ w + b, approximate="tanh"),
    ):
        merged = both(bg, f, x, w, b, h)
        # For broadcast matrices, float32 kernels would have to cast a float16 bias.
        assert len(merged) == 1 or (dtype, shapes) == ("float16", SHAPES[-1])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_linear_layers_with_their_bias(bg: Any, dtype: str) -> None:
    x, h = data(bg, 2, 3, 12, dtype=dtype), data(bg, 2, 3, 20, dtype=dtype)
    w, b = data(bg, 20, 12, dtype=dtype), data(bg, 20, dtype=dtype)
    (merged,) = both(bg, lambda x, w, b, h: bg.nn.relu(bg.nn.linear(x, w, b)) + h, x, w, b, h)
    # Float16 kernels without subgroup matrices leave the addition to another kernel.
    assert merged == "linear with maximum, add" or (dtype, merged) == (
        "float16", "linear with maximum",
    )  # fmt: skip
    # the kernel has no place for a second bias
    assert both(bg, lambda x, w, b: bg.nn.linear(x, w, b) + b, x, w, b) == []


@pytest.mark.parametrize("shape", [(128, 256, 136), (65, 512, 256), (300, 200, 77)])
def test_residuals_of_float16_products_on_subgroup_matrices(bg: Any, shape: Any) -> None:
    """Where there are any, their kernels add the residual if its rows are whole vectors."""
    rows, inner, columns = shape
    x = data(bg, rows, inner, dtype="float16")
    w = (data(bg, columns, inner) * 0.1).astype("float16")
    b, h = data(bg, columns, dtype="float16"), data(bg, rows, columns, dtype="float16")
    for f in (
        lambda x, w, b, h: bg.nn.linear(x, w, b) + h,
        lambda x, w, b, h: bg.nn.relu(bg.nn.linear(x, w)) + h,
        lambda x, w, b, h: h + x @ w.T,
        lambda x, w, b, h: h + (x @ w.T.copy() * 0.5 + b),
    ):
        both(bg, f, x, w, b, h)


def test_transposed_operands_strided_biases_and_residuals(bg: Any) -> None:
    x, w = data(bg, 9, 7).T, data(bg, 5, 9).T
    b, h = data(bg, 5), data(bg, 7, 5)
    strided, turned = data(bg, 10)[::2], data(bg, 5, 7).T
    assert both(bg, lambda: bg.nn.gelu(x @ w + b) + h) == ["matmul with add, gelu, add"]
    # packing a bias or a residual would need a kernel
    assert both(bg, lambda: x @ w + strided) == []
    assert both(bg, lambda: bg.nn.gelu(x @ w) + turned) == ["matmul with gelu"]


def test_vectors(bg: Any) -> None:
    x, v, b = data(bg, 6, 5), data(bg, 5), data(bg, 6)
    assert both(bg, lambda x, v, b: bg.nn.relu(x @ v) + b, x, v, b) == ["matmul with maximum, add"]
    assert both(bg, lambda x, v, b: bg.nn.relu(v @ x.T + b), x, v, b) == [
        "matmul with add, maximum"
    ]


def test_operations_that_no_epilogue_computes(bg: Any) -> None:
    x, w, b, h = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5), data(bg, 3, 4, 5)
    assert both(bg, lambda x, w: bg.sort(x @ w), x, w) == []
    assert both(bg, lambda x, w, h: x @ w + h, x, w, h) == []  # different shape
    assert both(bg, lambda x, w: x @ w * 0.0, x, w) == []
    assert both(bg, lambda x, w, b: (x @ w) * b, x, w, b) == []
    assert both(bg, lambda x, w, b: (x @ w).astype("float16") + b, x, w, b) == []
    assert both(bg, lambda x, w, b: bg.nn.relu(bg.nn.relu(x @ w + b) + b), x, w, b) == [
        "matmul with add, maximum"
    ]
    assert both(bg, lambda x, w: x @ w * np.inf, x, w) == []
    n, m = bg.arange(12).reshape(3, 4), bg.arange(8).reshape(4, 2)
    assert both(bg, lambda n, m: n @ m + 1, n, m) == []
    c = bg.asarray(np.full((3, 3), 1 + 2j, "complex64"))
    # complex products end with a sum
    assert both(bg, lambda c: c @ c + 1, c) == ["matmul with add"]
    high = both(bg, lambda x, w, b: bg.matmul(x, w, precision="high") + b, x, w, b)
    assert high == []


def test_nan_and_infinities(bg: Any) -> None:
    x = bg.asarray(np.float32([[np.nan, 1], [np.inf, 1], [-np.inf, 1], [0, 0]]))
    w, b = bg.asarray(np.float32([[1, 2], [3, 4]])), bg.asarray(np.float32([0, -9]))
    assert len(both(bg, lambda x, w, b: bg.nn.relu(x @ w * 2 + b), x, w, b)) == 1


def test_values_that_are_read_twice_are_kept(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)

    def shared(x: Any, w: Any, b: Any) -> Any:
        y = x @ w
        z = y + b
        return y, z, bg.nn.relu(z), z * y

    def twice(x: Any, w: Any, b: Any) -> Any:
        y = x @ w + b
        return bg.nn.relu(y) * bg.exp(y)

    assert both(bg, shared, x, w, b) == []
    assert both(bg, twice, x, w, b) == ["matmul with add, maximum, exp, multiply"]


def test_sums_of_products(bg: Any) -> None:
    x, y, w = data(bg, 4, 6), data(bg, 4, 6, seed=1), data(bg, 6, 5)
    merged = both(bg, lambda x, y, w: bg.nn.relu(x @ w) + bg.nn.relu(y @ w), x, y, w)
    assert sorted(merged) == ["matmul with maximum", "matmul with maximum, add"]


def test_products_that_are_reduced_joined_assigned_and_viewed(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)

    def f(x: Any, w: Any, b: Any) -> Any:
        y = bg.nn.relu(x @ w + b)
        whole = bg.zeros((6, 5))
        whole[1:5] = x @ w + b
        whole[0] = (x @ w)[1] + b
        joined = bg.concat([y, x @ w + b, x @ w * 2], axis=0)
        return bg.sum(bg.exp(x @ w + b), axis=0), joined, whole, (x @ w + b).reshape(20)[::3]

    both(bg, f, x, w, b)


def test_large_products_with_an_activation_are_joined(bg: Any) -> None:
    # Each is too large to be computed first and copied.
    x, w = data(bg, 4, 8), [data(bg, 8, 2**16, seed=n) for n in range(3)]
    f = bg.jit(lambda x, w: bg.concatenate([bg.nn.relu(x @ one) for one in w], axis=1))
    for _ in range(2):
        near(f(x, w), np.concatenate([np.maximum(x @ one, 0) for one in w], axis=1))
    assert "3 x matmul with maximum in one" in str(f.explain())


def test_unread_products_are_not_computed(bg: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        x @ w
        bg.exp(w.T @ w)
        return x * 2

    fast = bg.jit(f)
    for _ in range(3):
        fast(data(bg, 4, 6), data(bg, 6, 5))
    assert list(fast.explain().variants[0]["labels"]) == ["fused: multiply"]


def test_equal_values_are_computed_once(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)

    def f(x: Any, w: Any, b: Any) -> Any:
        return bg.tanh(x @ w + b) + bg.tanh(x @ w + b) * 2 + bg.cos(x @ w * 3) + bg.cos(x @ w * 3)

    both(bg, f, x, w, b)
    fast = bg.jit(f)
    for _ in range(3):
        fast(x, w, b)
    labels = fast.explain().variants[0]["labels"]
    assert sum(times for label, times in labels.items() if label.startswith("gemm")) == 1
    (fused,) = (label for label in labels if label.startswith("fused"))
    assert fused.count("tanh") == fused.count("cos") == 1


def test_equal_products_of_changed_operands_differ(bg: Any) -> None:
    x, w = data(bg, 4, 6), data(bg, 6, 5)

    def f(x: Any, w: Any) -> Any:
        first = x @ w
        x += 1
        return first, x @ w, first + 1

    want = np.asarray(x) @ np.asarray(w)
    fast = bg.jit(f)
    for n in range(3):
        first, second, _ = fast(x, w)
        shift = np.asarray(w).sum(0)
        np.testing.assert_allclose(np.asarray(first), want + n * shift, rtol=1e-5, atol=1e-5)
        later = want + (n + 1) * shift
        np.testing.assert_allclose(np.asarray(second), later, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("what", ["x", "w", "b", "view", "bias view"])
def test_writes_after_a_product_do_not_change_it(bg: Any, what: str) -> None:
    values = {"x": data(bg, 4, 6), "w": data(bg, 6, 5), "b": data(bg, 5)}
    given = {name: np.asarray(x) for name, x in values.items()}
    view, part = values["x"][1:3], values["b"][::2]
    with bg.capture() as graph:
        x, w, b = values.values()
        y = bg.nn.linear(x, w.T, b)
        z = x @ w
        target = {"view": view, "bias view": part}.get(what)
        target = values[what] if target is None else target
        target[...] = 7.0
        found = bg.nn.relu(y) + 1
        other = z + b
    wanted = np.maximum(given["x"] @ given["w"] + given["b"], 0) + 1
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-5)
    now = np.asarray(values["b"])
    np.testing.assert_allclose(
        np.asarray(other), given["x"] @ given["w"] + now, rtol=1e-5, atol=1e-5
    )
    graph.replay()
    again = {name: np.asarray(x) for name, x in values.items()}
    wanted = np.maximum(again["x"] @ again["w"] + again["b"], 0) + 1
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-5)


def test_results_can_be_changed_in_place(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)

    def f(x: Any, w: Any, b: Any) -> Any:
        y = x @ w
        z = x @ w
        y += b
        y[1] = 3.0
        z *= 2
        v = z[1:]
        v += 1
        return y, z, bg.nn.relu(z)

    both(bg, f, x, w, b)


def test_gradients_equal_the_plain_functions(bg: Any) -> None:
    from browsergpu import nn

    x, y = data(bg, 8, 6), data(bg, 8, 3)
    losses = []
    for optimize in (True, False):
        nn.init.seed(0)
        model = nn.Sequential(
            nn.Linear(6, 7), nn.GELU(), nn.Linear(7, 7), nn.ReLU(), nn.Linear(7, 3)
        )
        optimizer = bg.optim.Adam(model.parameters(), lr=0.05)

        def step(x: Any, y: Any, model: Any = model, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = nn.mse_loss(model(x) * 0.5 + 0.1, y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        fast = bg.jit(step, optimize=optimize)
        losses.append([float(fast(x, y)) for _ in range(8)])
        assert fast.explain().variants
        losses[-1] += [float(bg.sum(p.detach())) for p in model.parameters()]
    np.testing.assert_allclose(*losses, rtol=1e-4, atol=1e-5)


def test_gradients_pass_a_compiled_function(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)
    found = []
    for optimize in (True, False):
        f = bg.jit(lambda x, w, b: bg.nn.gelu(x @ w + b), optimize=optimize)
        for _ in range(4):
            own = [v.copy().requires_grad_() for v in (x, w, b)]
            bg.sum(f(*own)).backward()
        found.append([v.grad for v in own])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-5)


def test_a_value_that_is_read_ends_the_capture_with_right_results(bg: Any) -> None:
    x, w, b = data(bg, 4, 6), data(bg, 6, 5), data(bg, 5)

    def f(x: Any, w: Any, b: Any) -> Any:
        y = bg.nn.relu(x @ w + b)
        z = x @ w
        return (y + z) if float(bg.sum(z)) > 1e9 else (y * z + b)

    fast = bg.jit(f)
    near(fast(x, w, b), f(x, w, b))
    with pytest.warns(UserWarning, match="reads a value"):
        found = fast(x, w, b)
    near(found, f(x, w, b))
    near(fast(x, w, b), f(x, w, b))


def test_an_error_in_the_block_leaves_arrays_right(bg: Any) -> None:
    x, w = data(bg, 4, 6), data(bg, 6, 5)
    kept: list[Any] = []

    def block() -> None:
        with bg.capture():
            kept.extend([x @ w, bg.nn.relu(x @ w) + 1])
            raise KeyError

    with pytest.raises(KeyError):
        block()
    product = np.asarray(x) @ np.asarray(w)
    np.testing.assert_allclose(np.asarray(kept[0]), product, rtol=1e-5, atol=1e-5)
    wanted = np.maximum(product, 0) + 1
    np.testing.assert_allclose(np.asarray(kept[1]), wanted, rtol=1e-5, atol=1e-5)


def test_optimize_must_be_a_bool(bg: Any) -> None:
    with pytest.raises(bg.errors.InvalidArgument, match="optimize"):
        bg.jit(abs, optimize="yes")


def test_copies_keep_the_option(bg: Any) -> None:
    import copy

    from browsergpu import nn

    module = copy.deepcopy(bg.jit(nn.Linear(3, 2), optimize=False))
    for _ in range(3):
        with bg.no_grad():
            module(data(bg, 2, 3))
    assert not module.explain().variants[0]["merged"]


def test_explain_names_a_waiting_product(bg: Any) -> None:
    with bg.capture():
        text = bg.explain(data(bg, 2, 3) @ data(bg, 3, 2))
    assert text.startswith("a product")
