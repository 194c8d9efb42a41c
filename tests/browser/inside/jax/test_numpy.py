"""``jax.numpy``: dtypes, immutable arrays and functions with JAX's meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def _name(x: Any) -> str:
    return str(x.dtype.name)


@pytest.mark.fast
def test_dtypes_are_those_of_jax(bg: Any) -> None:
    jnp = bg.jax.numpy
    assert [_name(x) for x in (jnp.arange(3), jnp.array([1.5]), jnp.asarray(np.arange(2)))] == [
        "int32", "float32", "int32",
    ]  # fmt: skip
    assert _name(jnp.arange(2) + jnp.ones(2, jnp.float16)) == "float16"
    assert _name(jnp.uint32(1) + jnp.int32(2)) == "int32"
    assert _name(jnp.int8(5) / jnp.int8(2)) == "float32"
    assert _name(jnp.bool_(True) + 1) == "int32"
    assert _name(jnp.float16(1) + 1.5) == "float16"
    assert _name(jnp.float16(1) + np.float64(1.5)) == "float32"
    assert _name(jnp.sum(jnp.ones(2, jnp.int8))) == "int32"
    assert _name(jnp.cumsum(jnp.ones(2, jnp.int8))) == "int8"
    assert _name(jnp.argmax(jnp.ones(2))) == "int32"
    assert (jnp.int8(100) + 1000).item() == 76
    assert jnp.float32 == np.dtype("float32")
    assert jnp.issubdtype(jnp.float32, jnp.floating)
    with pytest.raises(OverflowError, match="int32"):
        jnp.array([2**40])
    with pytest.warns(UserWarning, match="truncated to dtype float32"):
        assert _name(jnp.zeros(1, jnp.float64)) == "float32"


def test_arrays_cannot_be_changed(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = y = jnp.zeros(2)
    with pytest.raises(TypeError, match=r"x\.at\[idx\]\.set"):
        x[0] = 1
    x += 1
    assert (x.tolist(), y.tolist()) == ([1, 1], [0, 0])
    with pytest.raises(ValueError, match="inplace must be False"):
        jnp.put(x, 0, 1.0)
    assert jnp.put(x, jnp.array([0]), 7.0, inplace=False).tolist() == [7, 1]
    given = bg.zeros(2)
    own = jnp.asarray(given)
    given[0] = 5
    assert own.tolist() == [0, 0]
    assert repr(jnp.arange(3)) == "Array([0, 1, 2], dtype=int32)"


def test_lists_are_refused(bg: Any) -> None:
    jnp = bg.jax.numpy
    for call in (
        lambda: jnp.sum([1, 2]), lambda: jnp.sin([1.0]), lambda: jnp.ones(2) - [1, 2],
        lambda: jnp.ones(2) == [1, 2], lambda: jnp.arange(3)[[0, 1]], lambda: jnp.arange(3)[1.5],
        lambda: jnp.take(jnp.ones(2), [0]),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()


def test_indices_out_of_bounds(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.arange(5)
    assert [x[9].item(), x[-9].item()] == [4, 0]
    assert x[jnp.array([9, -1, -9])].tolist() == [4, 4, 0]
    at = jnp.array([1, 9])
    assert x.at[at].set(7).tolist() == [0, 7, 2, 3, 4]
    assert x.at[at].set(7, mode="clip").tolist() == [0, 7, 2, 3, 7]
    assert x.at[9].add(1).tolist() == x.tolist()
    assert x.at[at].get(mode="fill", fill_value=-1).tolist() == [1, -1]
    assert np.isnan(np.asarray(jnp.take(x * 1.0, 9)))
    with pytest.raises(ValueError, match="mode"):
        x.at[0].set(1, mode="raise")
    with pytest.raises(TypeError, match="unexpected keyword"):
        x.at[0].set(1, nothing=True)


def test_at_combines_repeated_indices(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.arange(5)
    at = jnp.array([1, 1, 3])
    assert x.at[at].add(jnp.array([5, 6, 7])).tolist() == [0, 12, 2, 10, 4]
    assert x.at[at].multiply(3).tolist() == [0, 9, 2, 9, 4]
    assert x.at[at].max(jnp.array([9, 5, 1])).tolist() == [0, 9, 2, 3, 4]
    assert x.at[at].min(-1).tolist() == [0, -1, 2, -1, 4]
    assert x.at[at].apply(lambda v: v * 2 + 1).tolist() == [0, 7, 2, 7, 4]
    assert x.at[at].power(2).tolist() == [0, 1, 2, 9, 4]
    # Sums beyond the integers of float32 are exact.
    large = jnp.array([2**30, 0]).at[jnp.array([0, 0])].add(jnp.array([1, 2]))
    assert large.tolist() == [2**30 + 3, 0]
    both = x.reshape(5, 1) + jnp.zeros((1, 2), int)
    assert both.at[at, 0].add(1)[:, 0].tolist() == [0, 3, 2, 4, 4]


def test_at_has_gradients(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy
    x = jnp.array([2.0, 3.0, 4.0])
    product = jax.grad(lambda v: v.at[jnp.array([0, 0, 7])].multiply(v).sum())(x)
    assert product.tolist() == [12, 5, 1]
    assert jax.grad(lambda v: v.at[0].set(0.0).sum())(x).tolist() == [0, 1, 1]
    moved = jax.vmap(lambda v, n: v.at[n].add(1.0))(jnp.zeros((2, 3)), jnp.array([0, 5]))
    assert moved.tolist() == [[1, 0, 0], [0, 0, 0]]
    same = jax.vmap(lambda v, n: v.at[n].add(1.0), (None, 0))(jnp.zeros(2), jnp.array([0, 1]))
    assert same.tolist() == [[1, 0], [0, 1]]


def test_fixed_sizes(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.array([3, 1, 3])
    assert jnp.unique(x, size=4, fill_value=-1).tolist() == [1, 3, -1, -1]
    assert jnp.nonzero(x > 1, size=3, fill_value=9)[0].tolist() == [0, 2, 9]
    assert jnp.repeat(x, jnp.array([1, 2, 0]), total_repeat_length=4).tolist() == [3, 1, 1, 3]
    assert jnp.bincount(x, length=5).tolist() == [0, 1, 0, 2, 0]
    assert jnp.bincount(x, length=2).tolist() == [0, 1]


def test_numpy_takes_copies(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.ones(2)
    assert type(np.sin(x)) is np.ndarray
    assert type(np.concatenate([x, x])) is np.ndarray
    assert type(np.ones(2) + x) is type(x)
    assert (np.ones(2) + x).dtype == np.float32
    assert x.__array_namespace__() is jnp
    view = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 5


def test_vectorize_takes_signatures(bg: Any) -> None:
    jnp = bg.jax.numpy
    dot = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
    assert dot(jnp.ones((4, 1, 3)), jnp.ones((2, 3))).shape == (4, 2)
    scale = jnp.vectorize(lambda x, n: x * n, excluded={1})
    assert scale(jnp.arange(3.0), 2).tolist() == [0, 2, 4]


def test_other_arguments_are_refused(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.ones(2)
    for call in (
        lambda: jnp.sum(x, out=x), lambda: jnp.median(x, out=x), lambda: jnp.sort(x, kind="heap"),
        lambda: jnp.reshape(x, 2, order="K"), lambda: jnp.matmul(x, x, precision="best"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must be"):
            call()
