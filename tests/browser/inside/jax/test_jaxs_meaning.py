"""Arguments and gradients whose meaning differs between JAX and NumPy. Values are those of JAX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_gradients_at_kinks(bg: Any) -> None:
    jax, jnp = bg.jax, bg.jax.numpy
    x = jnp.array([-2.0, 0.0, 2.0])
    assert jax.vmap(jax.grad(abs))(x).tolist() == [-1, 1, 1]
    assert not np.signbit(np.asarray(jax.vmap(jnp.abs)(-x * 0))).any()
    both = jax.grad(lambda a, b: jnp.sum(jnp.fmax(a, b)), (0, 1))(x, x)
    assert [one.tolist() for one in both] == [[0, 0, 0], [1, 1, 1]]
    both = jax.vmap(jax.grad(jnp.fmod, (0, 1)))(jnp.array([5.0, -5, 2]), jnp.array([2.0, 2, 1]))
    assert [one.tolist() for one in both] == [[1, 1, 1], [-2, 2, -2]]
    both = jax.grad(jnp.logaddexp, (0, 1))(math.inf, 0.0)
    assert [one.item() for one in both] == [1, 0]
    assert math.isnan(jax.grad(lambda p: jnp.power(-2.0, p))(2.0).item())
    assert jax.grad(bg.jax.scipy.special.xlogy)(0.0, 1.0).item() == 0
    assert jax.grad(bg.jax.scipy.special.xlogy)(0.0, math.e).item() == pytest.approx(1)


def test_gradients_refuse_what_jax_refuses(bg: Any) -> None:
    jax = bg.jax
    with pytest.raises(ValueError, match="argnums must be different positions"):
        jax.grad(lambda x, y: x * y, argnums=(0, 0))(2.0, 3.0)
    with pytest.raises(TypeError, match="inputs must be complex"):
        jax.grad(lambda x: x * x, holomorphic=True)(2.0)
    with pytest.raises(TypeError, match="fun must be complex"):
        jax.grad(lambda x: abs(x), holomorphic=True)(2j)


def test_reductions_keep_their_dtype(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.array([1, -2, 3])
    assert (jnp.sum(x, initial=-1.5).item(), jnp.max(x, initial=3.7).item()) == (1, 3)
    assert jnp.max(x > 0, initial=0).dtype == bool
    assert jnp.max(jnp.zeros((0, 2)), axis=0, initial=2).tolist() == [2, 2]
    assert jnp.max(x, where=x < 0, initial=-9).item() == -2
    assert jnp.cumulative_prod(jnp.array([16, 17], jnp.uint8)).tolist() == [16, 16]
    assert math.isnan(jnp.var(jnp.ones(2), ddof=2).item())
    assert jnp.quantile(x, 0.5, method="lower").dtype == np.float32
    assert jnp.histogram2d(x, x, 2)[0].dtype == np.int32
    with pytest.raises(TypeError, match="dtype must be a float or complex dtype"):
        jnp.mean(x, dtype=int)
    with pytest.raises(ValueError, match="correction must be None"):
        jnp.std(x, ddof=1, correction=1)


def test_products_compute_in_the_preferred_type(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.array([[100, 100]], jnp.int8)
    for call in (jnp.matmul, jnp.dot, bg.jax.lax.dot):
        assert call(x, x.T, preferred_element_type=jnp.int32).tolist() == [[20000]]
    assert jnp.einsum("ij,kj", x, x, preferred_element_type=jnp.float32).tolist() == [[20000]]


def test_integers_at_indices_are_combined_as_floats(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.array([4, -5, 8])
    assert x.at[:2].mul(0.5).tolist() == [2, -2, 8]
    assert x.at[jnp.array([0, 0, 9])].add(1.5).tolist() == [7, -5, 8]
    assert x.at[0].add(1.5).dtype == np.int32


def test_bits_of_other_widths_are_an_axis(bg: Any) -> None:
    jnp, lax = bg.jax.numpy, bg.jax.lax
    parts = lax.bitcast_convert_type(jnp.array([1.0, -1.0]), jnp.uint8)
    assert parts.tolist() == [[0, 0, 128, 63], [0, 0, 128, 191]]
    assert lax.bitcast_convert_type(parts, jnp.float32).tolist() == [1, -1]
    with pytest.raises(ValueError, match="4 elements along the last axis"):
        lax.bitcast_convert_type(parts[:, :2], jnp.float32)


def test_sets_and_indices(bg: Any) -> None:
    jnp = bg.jax.numpy
    x = jnp.array([3.0, math.nan, 1, math.nan])
    assert jnp.union1d(x, x).shape == (3,)
    assert jnp.setdiff1d(jnp.array([3, 5]), x, size=3).tolist() == [5, 0, 0]
    assert jnp.unravel_index(jnp.array([99, -1, -99]), (3, 4))[0].tolist() == [2, 2, 0]
    assert jnp.argwhere(jnp.array(True)).shape == (1, 0)
    assert jnp.delete(jnp.arange(5), slice(1, 3)).tolist() == [0, 3, 4]
    assert jnp.diff(jnp.array([True, False]), prepend=0).tolist() == [1, -1]
    assert jnp.frombuffer(np.float64([1, 2]).tobytes()).tolist() == [1, 2]
    assert jnp.polymul(jnp.array([1.0, 2]), jnp.array([0.0, 1])).tolist() == [0, 1, 2]
    assert jnp.angle(jnp.array([1j]), deg=True).tolist() == [90]
    assert jnp.nan_to_num(x, nan=7).tolist() == [3, 7, 1, 7]
    for call in (
        lambda: jnp.take(x, 0, axis=1),
        lambda: jnp.nonzero(jnp.array(1)),
        lambda: jnp.choose(jnp.array([0, 2]), [1, 2]),
        lambda: jnp.ravel_multi_index((jnp.array([3]), jnp.array([0])), (3, 4)),
        lambda: jnp.tril_indices_from(jnp.ones((2, 2, 2))),
        lambda: jnp.compress(jnp.array([True, False, True]), jnp.ones((2, 2)), axis=0),
        lambda: bg.jax.random.permutation(bg.jax.random.key(0), x, axis=1),
    ):
        with pytest.raises(ValueError, match="must"):
            call()


def test_conditions_of_loops_are_bools(bg: Any) -> None:
    lax = bg.jax.lax
    with pytest.raises(TypeError, match="cond_fun must be a function that returns a bool"):
        lax.while_loop(lambda n: n, lambda n: n - 1, 3)
    assert lax.while_loop(lambda n: n > 0, lambda n: n - 1, 3).item() == 0


def test_masks_of_attention(bg: Any) -> None:
    jax, jnp = bg.jax, bg.jax.numpy
    x = jnp.array([[[[1.0]], [[3.0]]]])  # [batch, length, heads, width]
    attend = jax.nn.dot_product_attention
    hidden = jnp.zeros((1, 1, 2, 2), bool)
    assert attend(x, x, x, mask=hidden).ravel().tolist() == [2, 2]
    bias = attend(x * 0, x, x, bias=jnp.array([[[[True, False]] * 2]])).ravel()
    assert bias.tolist() == pytest.approx([1 + 2 / (1 + math.e)] * 2)
    with pytest.raises(TypeError, match="mask must be of bools"):
        attend(x, x, x, mask=hidden * 1.0)
    half = x.astype("float16")
    assert attend(half, half, half, mask=hidden).ravel().tolist() == [2, 2]
    low = jnp.full((1, 1, 2, 2), -1e9)  # below the least float16
    assert attend(half, half, half, bias=low).ravel().tolist() == [2, 2]


def test_choices_of_branches(bg: Any) -> None:
    lax = bg.jax.lax
    with pytest.raises(TypeError, match="pred must be a scalar"):
        lax.cond(bg.jax.numpy.ones(1, bool), lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match="index must be an integer"):
        lax.switch(1.5, [lambda: 1, lambda: 2])


def test_gradients_of_entropies_and_small_logarithms(bg: Any) -> None:
    grad, special = bg.jax.grad, bg.jax.scipy.special
    assert float(grad(special.entr)(0.0)) == math.inf
    assert float(grad(special.entr)(0.5)) == pytest.approx(-0.30685282)
    assert float(grad(special.xlog1py)(1.0, 1e-9)) == pytest.approx(1e-9)
    given = bg.asarray([1.0, 2.0])
    found = bg.grad(lambda x: bg.special.xlogy(x, [1.0, 2.0]).sum())(given)
    assert found.tolist() == pytest.approx([0.0, math.log(2)])


def test_weights_of_histograms_come_before_density(bg: Any) -> None:
    jnp = bg.jax.numpy
    x, w = jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0, 2.0, 3.0])
    assert jnp.histogram2d(x, x, 2, None, w)[0].tolist() == [[1, 0], [0, 5]]
    assert jnp.histogramdd(jnp.stack([x, x], 1), 2, None, w)[0].tolist() == [[1, 0], [0, 5]]
    assert jnp.histogram2d(x, x, 2)[0].dtype == "int32"


def test_missing_dtypes_and_real_extremes_are_named(bg: Any) -> None:
    jnp = bg.jax.numpy
    with pytest.raises(NotImplementedError, match="WebGPU has no bfloat16"):
        jnp.frombuffer(b"1234", jnp.bfloat16)
    with pytest.raises(TypeError, match="a must be a real dtype"):
        jnp.max(jnp.array([1 + 2j]), initial=0)
