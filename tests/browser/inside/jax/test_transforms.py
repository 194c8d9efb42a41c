"""Transforms with JAX's arguments, conventions and errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_gradients(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy
    assert jax.grad(jax.grad(lambda x: x**3))(2.0).item() == 12
    value, slope = jax.value_and_grad(lambda p: (p["a"] ** 2).sum())({"a": jnp.arange(3.0)})
    assert (value.item(), slope["a"].tolist()) == (5, [0, 2, 4])
    slope, aux = jax.grad(lambda x: (x.sum(), x * 2), has_aux=True)(jnp.arange(3.0))
    assert (slope.tolist(), aux.tolist()) == ([1, 1, 1], [0, 2, 4])
    # JAX's gradients of complex numbers are the conjugates of bg.grad's.
    assert jax.grad(lambda z: jnp.real(z * jnp.conj(z)))(1 + 2j).item() == 2 - 4j
    assert jax.grad(lambda z: z**2, holomorphic=True)(1 + 2j).item() == 2 + 4j
    with pytest.raises(TypeError, match=r"np\.inexact"):
        jax.grad(lambda x: x * 2.0)(3)
    with pytest.raises(TypeError, match="scalar-output"):
        jax.grad(lambda x: x)(jnp.ones(2))
    matrix = jax.hessian(lambda x: (x**3).sum() + x[0] * x[1])(jnp.array([1.0, 2.0]))
    assert matrix.tolist() == [[6, 1], [1, 12]]
    value, product = jax.linearize(lambda x: x**2, 3.0)
    assert (value.item(), product(2.0).item()) == (9, 12)
    value, pullback, aux = jax.vjp(lambda x: (x * 2, x + 1), 3.0, has_aux=True)
    assert (value.item(), pullback(1.0)[0].item(), aux.item()) == (6, 2, 4)


def test_custom_rules(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy

    @jax.custom_jvp
    def double(x: Any) -> Any:
        return x * 2

    @double.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return double(*primals), tangents[0] * 10

    assert jax.grad(double)(1.0).item() == 10
    assert jax.jvp(double, (1.0,), (2.0,))[1].item() == 20
    assert jax.grad(jax.grad(lambda x: double(x) * x))(1.0).item() == 20

    @partial(jax.custom_vjp, nondiff_argnums=(0,))
    def scaled(f: Any, x: Any) -> Any:
        return {"y": f(x)}

    scaled.defvjp(lambda f, x: ({"y": f(x)}, x), lambda f, x, g: (g["y"] * x * 100,))
    assert jax.grad(lambda x: scaled(jnp.sin, x)["y"])(2.0).item() == 200
    many = jax.vmap(jax.grad(lambda x: scaled(jnp.sin, x)["y"]))(jnp.arange(3.0))
    assert many.tolist() == [0, 100, 200]
    with pytest.raises(AttributeError, match="defvjp"):
        jax.custom_vjp(lambda x: x)(1.0)
    for kind, one in ((jax.custom_vjp, scaled), (jax.custom_jvp, double)):
        with pytest.raises(AttributeError, match=f"def{kind.__name__[-3:]}"):
            kind(jax.vmap(one))(jnp.ones(2))  # which has no rule, unlike the function in it
    each = jax.custom_jvp(lambda x, y: x * y)
    each.defjvps(lambda t, ans, x, y: t * 7, None)
    assert [g.item() for g in jax.grad(each, (0, 1))(2.0, 3.0)] == [7, 0]


def test_compiled_functions_replay(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy

    @jax.jit
    def step(p: Any, rate: Any) -> Any:
        assert isinstance(rate, jax.Array)
        return {"w": p["w"] - rate * 2, "n": p["n"] + 1}

    p = {"w": jnp.zeros(2), "n": 0}
    for n in range(6):
        p = step(p, 0.5 * n)
    assert (p["w"].tolist(), p["n"].item()) == ([-15, -15], 6)
    assert "replays" in str(step.explain())
    with jax.disable_jit():
        assert step(p, 1.0)["n"].item() == 7

    @jax.tree_util.register_pytree_node_class
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

        def tree_flatten(self) -> Any:
            return (self.a, self.b), None

        @classmethod
        def tree_unflatten(cls, _: Any, children: Any) -> Any:
            return cls(*children)

    total = jax.jit(lambda pair: Pair(pair.a + pair.b, pair.a))
    for n in range(4):
        found = total(Pair(jnp.ones(2) * n, jnp.ones(2)))
        assert found.a.tolist() == [n + 1, n + 1]


def test_control_flow_checks_types(bg: Any) -> None:
    jax = bg.jax
    jnp, lax = jax.numpy, jax.lax
    with pytest.raises(TypeError, match="equal types"):
        lax.scan(lambda c, x: (c.astype(int), x), jnp.float32(1), jnp.arange(3.0))
    with pytest.raises(TypeError, match="same dtypes"):
        lax.add(1, 1.0)
    with pytest.raises(TypeError, match="number of axes"):
        lax.add(jnp.ones(3), jnp.ones((2, 3)))
    assert lax.scan(lambda c, x: (c, x), 0.0, jnp.zeros((0, 2)))[1].shape == (0, 2)
    powers = jax.vmap(lambda n: lax.while_loop(lambda v: v < 50, lambda v: v * n, n))
    assert powers(jnp.array([2, 3, 7])).tolist() == [64, 81, 343]
    pairs = (jnp.arange(1.0, 6.0), jnp.ones(5))
    found = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), pairs)
    assert found[0].tolist() == [1, 2, 6, 24, 120]


def test_products_and_windows(bg: Any) -> None:
    jax = bg.jax
    jnp, lax = jax.numpy, jax.lax
    a = np.arange(12.0, dtype=np.float32).reshape(2, 2, 3)
    b = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    found = lax.dot_general(jnp.asarray(a), jnp.asarray(b), (((2,), (1,)), ((0,), (0,))))
    np.testing.assert_allclose(np.asarray(found), a @ b)
    x = jnp.arange(16.0).reshape(4, 4)
    assert lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").tolist() == [
        [5, 7], [13, 15],
    ]  # fmt: skip
    same = lax.reduce_window(jnp.arange(5.0), 0.0, lax.add, (3,), (1,), "SAME")
    assert same.tolist() == [1, 3, 6, 9, 7]
    image = x.reshape(1, 4, 4, 1)
    filters = jnp.ones((2, 2, 1, 1))
    made = lax.conv_general_dilated(
        image, filters, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    assert made.reshape(2, 2).tolist() == [[10, 18], [42, 50]]
    with pytest.raises(ValueError, match="padding"):
        lax.conv(image, filters, (1, 1), "FULL")


def test_eval_shape_and_trees(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy
    shape = jax.eval_shape(lambda a, b: (a @ b, a.sum()), jnp.ones((2, 3)),
                           jax.ShapeDtypeStruct((3, 4), jnp.float32))  # fmt: skip
    assert (shape[0].shape, shape[1].shape) == ((2, 4), ())
    vector, unravel = jax.flatten_util.ravel_pytree({"a": jnp.arange(2), "b": [1.5]})
    assert vector.tolist() == [0, 1, 1.5]
    assert unravel(vector)["a"].dtype == jnp.int32
    paths = jax.tree.leaves_with_path({"a": [1, 2]})
    assert [jax.tree_util.keystr(path) for path, _ in paths] == ["['a'][0]", "['a'][1]"]
