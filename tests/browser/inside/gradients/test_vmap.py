"""vmap: axes, trees, nesting, gradients, graphs, writes and errors."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1


def _array(x: Any) -> np.ndarray:
    return np.asarray(x)


@pytest.mark.fast
def test_one_call_computes_all_examples(bg: Any) -> None:
    calls = []

    def function(row: Any, other: Any) -> Any:
        calls.append(row.shape)
        return (row * other).sum()

    found = bg.vmap(function, in_axes=(0, None))(bg.asarray(ROWS), bg.asarray(ROWS[0]))
    np.testing.assert_allclose(_array(found), ROWS @ ROWS[0], rtol=1e-6)
    assert calls == [(4,)]


def test_axes_of_arguments_and_results(bg: Any) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = bg.vmap(lambda a: a.T * 2, in_axes=1, out_axes=-1)(bg.asarray(x))
    np.testing.assert_array_equal(_array(found), np.stack([x[:, n].T * 2 for n in range(3)], -1))
    both = bg.vmap(lambda a: (a + 1, 7), out_axes=(1, None))(bg.asarray(x))
    np.testing.assert_array_equal(_array(both[0]), np.moveaxis(x + 1, 0, 1))
    assert both[1].item() == 7
    same = bg.vmap(lambda a: bg.ones(2), axis_size=2)(bg.asarray(x))
    assert same.shape == (2, 2)
    keyword = bg.vmap(lambda a, *, b: a + b)(bg.asarray(ROWS), b=bg.asarray(ROWS))
    np.testing.assert_array_equal(_array(keyword), 2 * ROWS)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_trees_of_arguments_and_axes(bg: Any) -> None:
    given = {"x": bg.asarray(ROWS), "y": [bg.asarray(ROWS[0]), 2.0]}
    axes = {"x": 0, "y": None}
    found = bg.vmap(
        lambda tree: Pair(tree["x"] * tree["y"][0], [tree["x"].sum() * tree["y"][1]]),
        in_axes=(axes,), out_axes=Pair(1, 0),
    )(given)  # fmt: skip
    assert type(found) is Pair
    np.testing.assert_allclose(_array(found.a), (ROWS * ROWS[0]).T, rtol=1e-6)
    np.testing.assert_allclose(_array(found.b[0]), 2 * ROWS.sum(1), rtol=1e-6)


def test_nested_calls(bg: Any) -> None:
    x, y = bg.asarray(ROWS), bg.asarray(ROWS[:2])
    pairs = bg.vmap(bg.vmap(lambda a, b: a @ b, (None, 0)), (0, None))(x, y)
    np.testing.assert_allclose(_array(pairs), ROWS @ ROWS[:2].T, rtol=1e-5)
    table = bg.vmap(lambda a: bg.vmap(lambda b: bg.where(b > a[0], b, a.sum()))(y))(x)
    expected = np.stack([np.where(ROWS[:2] > a[0], ROWS[:2], a.sum()) for a in ROWS])
    np.testing.assert_allclose(_array(table), expected, rtol=1e-6)


def _loss(bg: Any) -> Any:
    return lambda w, row: bg.tanh(row @ w).sum() * w[0, 0]


def test_gradients_of_each_example(bg: Any) -> None:
    w, x = bg.asarray(np.cos(np.arange(8, dtype=np.float32)).reshape(4, 2)), bg.asarray(ROWS)
    slope = bg.grad(_loss(bg))
    expected = np.stack([_array(slope(w, bg.asarray(row))) for row in ROWS])
    np.testing.assert_allclose(_array(bg.vmap(slope, (None, 0))(w, x)), expected, rtol=1e-5)
    whole = bg.grad(lambda w: bg.vmap(_loss(bg), (None, 0))(w, x).sum())(w)
    np.testing.assert_allclose(_array(whole), expected.sum(0), rtol=1e-5, atol=1e-6)
    twice = bg.vmap(bg.grad(lambda v: bg.grad(lambda u: (u**3).sum())(v).sum()))(x)
    np.testing.assert_allclose(_array(twice), 6 * ROWS, rtol=1e-5)
    assert bg.vmap(lambda v: bg.ones(3) * bg.grad(lambda u: (u * v).sum())(w[0, 0]))(x).shape == (
        3, 3,
    )  # fmt: skip


def test_gradients_of_nested_calls(bg: Any) -> None:
    x, y = bg.asarray(ROWS), bg.asarray(ROWS[:2] + 1)
    slope = bg.grad(lambda a, b: bg.sin(a * b).sum(), argnums=(0, 1))
    of_a, of_b = bg.vmap(bg.vmap(slope, (None, 0)), (0, None))(x, y)
    a, b = ROWS[:, None], ROWS[None, :2] + 1
    np.testing.assert_allclose(_array(of_a), np.cos(a * b) * b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(_array(of_b), np.cos(a * b) * a, rtol=1e-4, atol=1e-5)


def test_products_with_jacobians(bg: Any) -> None:
    x = bg.asarray(ROWS[2])
    function = lambda v: bg.sin(v) * v.sum()  # noqa: E731
    own = ROWS[2].astype(np.float64)
    jacobian = np.diag(np.cos(own) * own.sum()) + np.sin(own)[:, None]
    _, pullback = bg.vjp(function, x)
    np.testing.assert_allclose(_array(bg.vmap(pullback)(bg.eye(4))[0]), jacobian, atol=1e-5)
    _, product = bg.linearize(function, x)
    np.testing.assert_allclose(_array(product(bg.ones(4))), jacobian.sum(1), atol=1e-5)
    np.testing.assert_allclose(_array(bg.vmap(product)(bg.eye(4))), jacobian.T, atol=1e-5)
    along = bg.vmap(lambda v: bg.jvp(function, (x,), (v,))[1])(bg.eye(4))
    np.testing.assert_allclose(_array(along), jacobian.T, atol=1e-5)
    for transform in (bg.jacfwd, bg.jacrev):
        np.testing.assert_allclose(_array(transform(function)(x)), jacobian, atol=1e-5)
        several = bg.vmap(transform(function))(bg.asarray(ROWS))
        np.testing.assert_allclose(_array(several)[2], jacobian, atol=1e-5)


def test_jacobians_of_trees(bg: Any) -> None:
    def function(tree: Any, scale: Any) -> Any:
        return {"p": bg.outer(tree["a"], tree["b"]) * scale, "q": tree["a"].sum()}

    a, b = np.float32([1, 2]), np.float32([3, 4, 5])
    given = {"a": bg.asarray(a), "b": bg.asarray(b)}
    for transform in (bg.jacfwd, bg.jacrev):
        found = transform(function)(given, 2.0)
        assert found["p"]["a"].shape == (2, 3, 2)
        assert found["p"]["b"].shape == (2, 3, 3)
        np.testing.assert_allclose(
            _array(found["p"]["a"]), 2 * np.einsum("il,j->ijl", np.eye(2), b)
        )
        np.testing.assert_allclose(_array(found["q"]["a"]), [1, 1])
        np.testing.assert_allclose(_array(found["q"]["b"]), [0, 0, 0])
        of_scale, aux = transform(lambda *args: (function(*args), "aux"), (1,), has_aux=True)(
            given, 2.0
        )
        assert aux == "aux"
        np.testing.assert_allclose(_array(of_scale["p"][0]), np.outer(a, b))


def test_hessians(bg: Any) -> None:
    matrix = np.float32([[2, 1, 0], [1, 3, 0], [0, 0, 1]])
    m = bg.asarray(matrix)
    x = bg.asarray([1.0, -2.0, 0.5])
    quadratic = lambda v: v @ m @ v / 2 + (v**3).sum()  # noqa: E731
    expected = matrix + np.diag(6 * _array(x))
    np.testing.assert_allclose(_array(bg.hessian(quadratic)(x)), expected, rtol=1e-5)
    several = bg.vmap(bg.hessian(quadratic))(bg.stack([x, x * 2]))
    np.testing.assert_allclose(_array(several)[0], expected, rtol=1e-5)
    parts = bg.hessian(lambda a, b: (a * a * b).sum(), argnums=(0, 1))(x, x)
    np.testing.assert_allclose(_array(parts[0][1]), np.diag(2 * _array(x)), rtol=1e-5)


def test_own_gradients(bg: Any) -> None:
    @bg.custom_vjp
    def clipped(x: Any, y: Any) -> Any:
        return x * y

    clipped.defvjp(
        lambda x, y: (x * y, (x, y)),
        lambda kept, g: (bg.clip(g * kept[1], -1, 1), g * kept[0]),
    )
    x, y = bg.asarray(ROWS), bg.asarray(ROWS[0] * 3)
    plain = lambda a, b: clipped(a, b).sum()  # noqa: E731
    each = bg.vmap(bg.grad(plain, argnums=(0, 1)), (0, None))(x, y)
    np.testing.assert_allclose(_array(each[0]), np.tile(np.clip(ROWS[0] * 3, -1, 1), (3, 1)))
    np.testing.assert_allclose(_array(each[1]), ROWS)
    whole = bg.grad(lambda b: bg.vmap(plain, (0, None))(x, b).sum())(y)
    np.testing.assert_allclose(_array(whole), ROWS.sum(0), rtol=1e-6)
    second = bg.grad(lambda b: bg.grad(lambda a: bg.vmap(plain, (0, None))(a, b).sum())(x).sum())
    inside = np.abs(ROWS[0] * 3) < 1
    np.testing.assert_allclose(_array(second(y)), 3 * inside, rtol=1e-6)
    kept = bg.checkpoint(lambda v: bg.sin(v) * v)
    np.testing.assert_allclose(
        _array(bg.vmap(bg.grad(lambda v: kept(v).sum()))(x)),
        np.cos(ROWS) * ROWS + np.sin(ROWS), rtol=1e-4, atol=1e-6,
    )  # fmt: skip


def test_compiled_functions(bg: Any) -> None:
    inner = bg.vmap(bg.jit(lambda row: bg.exp(row).sum()))
    outer = bg.jit(bg.vmap(lambda row: bg.exp(row).sum()))
    slopes = bg.jit(bg.vmap(bg.grad(lambda row: bg.exp(row).sum())))
    for n in range(4):
        x = bg.asarray(ROWS + n)
        expected = np.exp(ROWS + n)
        np.testing.assert_allclose(_array(inner(x)), expected.sum(1), rtol=1e-5)
        np.testing.assert_allclose(_array(outer(x)), expected.sum(1), rtol=1e-5)
        np.testing.assert_allclose(_array(slopes(x)), expected, rtol=1e-5)


def test_compiled_functions_of_compiled_functions(bg: Any) -> None:
    inner = bg.jit(lambda row: bg.exp(row).sum())
    each, slope = bg.jit(bg.vmap(inner)), bg.jit(bg.grad(inner))
    slopes = bg.jit(bg.vmap(bg.jit(bg.grad(inner))))
    for n in range(4):
        x = bg.asarray(ROWS + n)
        expected = np.exp(ROWS + n)
        np.testing.assert_allclose(_array(each(x)), expected.sum(1), rtol=1e-5)
        np.testing.assert_allclose(_array(slope(x)), expected, rtol=1e-5)
        np.testing.assert_allclose(_array(slopes(x)), expected, rtol=1e-5)


def test_indices_that_differ(bg: Any) -> None:
    x, i = bg.asarray(ROWS), bg.asarray([[0, 3], [1, 1], [2, 0]])
    rows = np.arange(3)[:, None]
    own = _array(i)
    np.testing.assert_array_equal(_array(bg.vmap(lambda r, k: r[k])(x, i)), ROWS[rows, own])
    np.testing.assert_array_equal(_array(bg.vmap(lambda k: x[0][k])(i)), ROWS[0][own])
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    c, k = bg.asarray(cube), bg.asarray([2, 0, 1])
    for key in (lambda k: (slice(None), k), lambda k: (..., k), lambda k: (0, None, k),
                lambda k: (slice(None), k, [1, 2]), lambda k: ([0, 1], slice(None), k),
                lambda k: (slice(1), k, None, 3)):  # fmt: skip
        found = _array(bg.vmap(lambda k, key=key: c[key(k)])(k))
        np.testing.assert_array_equal(found, np.stack([cube[key(n)] for n in (2, 0, 1)]))
        stack = bg.vmap(lambda s, k, key=key: (c * s)[key(k)])(bg.asarray([1.0, 2.0, 3.0]), k)
        expected = np.stack([(cube * s)[key(n)] for s, n in ((1, 2), (2, 0), (3, 1))])
        np.testing.assert_array_equal(_array(stack), expected)
    with pytest.raises(IndexError, match="same mask for all examples"):
        bg.vmap(lambda r: r[r > 0])(x)


def test_writes(bg: Any) -> None:
    x = bg.asarray(ROWS)

    def function(row: Any, k: Any) -> Any:
        made = bg.zeros(4)
        made[0] = row.sum()
        made[1:] += row[1:]
        made[k] = 9
        other = row * 1
        part = other[:2]
        part[...] = -1
        bg.add.at(other, k, 100)
        return made, other

    made, other = bg.vmap(function)(x, bg.asarray([3, 1, 2]))
    expected, expected_other = np.zeros((3, 4), np.float32), ROWS.copy()
    expected[:, 0] = ROWS.sum(1)
    expected[:, 1:] += ROWS[:, 1:]
    expected_other[:, :2] = -1
    for n, k in enumerate((3, 1, 2)):
        expected[n, k] = 9
        expected_other[n, k] += 100
    np.testing.assert_allclose(_array(made), expected, rtol=1e-6)
    np.testing.assert_allclose(_array(other), expected_other, rtol=1e-6)
    slope = bg.vmap(bg.grad(lambda row: (function(row, 2)[0] ** 2).sum()))(x)
    assert slope.shape == (3, 4)
    with pytest.raises(ValueError, match="read-only"):
        bg.vmap(lambda row: row.fill(0))(x)
    outside = bg.zeros(4)

    def writing(row: Any) -> Any:
        outside[...] = row
        return row

    with pytest.raises(ValueError, match="outside of the function"):
        bg.vmap(writing)(x)
    assert outside.tolist() == [0, 0, 0, 0]


def test_functions_without_a_rule(bg: Any) -> None:
    x = bg.asarray(ROWS)
    with pytest.warns(bg.VmapWarning, match="for each example"):
        found = bg.vmap(lambda row: bg.linalg.lstsq(bg.stack([row, row + 1], axis=1), row)[0])(x)
    np.testing.assert_allclose(_array(found), [[1, 0]] * 3, atol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bg.VmapWarning)
        same = bg.vmap(lambda row: bg.unique_values(row))(x)
        with pytest.raises(ValueError, match="one shape for all examples"):
            bg.vmap(lambda row: bg.nonzero(row)[0])(x)
    np.testing.assert_array_equal(_array(same), ROWS)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda bg, x: bg.vmap(lambda r: r if r.sum() > 0 else -r)(x), TypeError, "one value"),
        (lambda bg, x: bg.vmap(lambda r: float(r.sum()))(x), TypeError, "one value"),
        (lambda bg, x: bg.vmap(lambda r: np.asarray(r))(x), TypeError, "one value"),
        (lambda bg, x: bg.vmap(lambda a, b: a)(x, x[:2]), ValueError, "inconsistent sizes"),
        (lambda bg, x: bg.vmap(lambda a: a, in_axes=2)(x), ValueError, "in_axes"),
        (lambda bg, x: bg.vmap(lambda a: a, in_axes=None)(x), ValueError, "at least one argument"),
        (lambda bg, x: bg.vmap(lambda a: a, in_axes=(0, 0))(x), ValueError, "2 entries"),
        (lambda bg, x: bg.vmap(lambda a: a)(2.0), ValueError, "rank at least 1"),
        (lambda bg, x: bg.vmap(lambda a: a, out_axes=None)(x), ValueError, "out_axes"),
        (lambda bg, x: bg.vmap(lambda a: a, out_axes=3)(x), ValueError, "out_axes"),
        (lambda bg, x: bg.vmap(lambda a: "text")(x), TypeError, "arrays or numbers"),
        (lambda bg, x: bg.vmap(lambda a: a.reshape(5))(x), ValueError, "reshape"),
        (lambda bg, x: bg.vmap(lambda a: a.sum(axis=1))(x), ValueError, "axis"),
    ],
)
def test_errors(bg: Any, call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(bg, bg.asarray(ROWS))


def test_kept_arrays_are_refused(bg: Any) -> None:
    kept: list[Any] = []
    bg.vmap(lambda row: (kept.append(row), row)[1])(bg.asarray(ROWS))
    with pytest.raises(ValueError, match="kept after vmap"):
        kept[0] + 1


def test_numbers_and_names(bg: Any) -> None:
    x = bg.asarray(ROWS)

    def function(row: Any) -> Any:
        assert row.ndim == 1
        assert row.size == 4
        assert len(row) == 4
        assert row.dtype == np.float32
        assert "examples=3" in repr(row)
        assert not row.requires_grad
        return np.sin(row) + np.sum(row) + 2**row + bg.special.erf(row) + sum(row)

    erf = _array(bg.special.erf(x))
    total = ROWS.sum(1, keepdims=True)
    expected = np.sin(ROWS) + 2 * total + 2**ROWS + erf
    np.testing.assert_allclose(_array(bg.vmap(function)(x)), expected, rtol=1e-5, atol=1e-6)
