"""backward, grad, vjp and jvp, and the lifetimes of the graph and of saved values."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def _values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)


def _leaf(bg: Any, *shape: int, seed: int = 0) -> Any:
    return bg.asarray(_values(*shape, seed=seed)).requires_grad_()


# -- backward -------------------------------------------------------------------------------------


def test_backward_adds_to_grad(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2, 3]))
    assert not x.requires_grad
    assert x.grad is None
    x.requires_grad = True
    assert x.is_leaf
    y = x * x
    assert y.requires_grad
    assert not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    (3 * x).sum().backward()
    assert x.grad.tolist() == [5, 7, 9]
    assert not x.grad.requires_grad
    assert y.grad is None
    x.grad = None
    assert x.grad is None


def test_a_gradient_that_was_given_weights(bg: Any) -> None:
    x = _leaf(bg, 3)
    (x * 2).backward(np.float32([1, 2, 3]))
    assert x.grad.tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="gradient"):
        (x * 2).backward()
    with pytest.raises(ValueError, match="shape"):
        (x * 2).backward(bg.ones(2))


def test_an_array_that_is_used_often_gets_all(bg: Any) -> None:
    x = _leaf(bg, 2)
    y = x * x
    for _ in range(50):
        y = y + x * 0.5
    (y * y).sum().backward()
    v = x.detach().numpy().astype(float)
    expected = 2 * (v * v + 25 * v) * (2 * v + 25)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-4)


def test_a_chain_of_thousands_needs_no_recursion(bg: Any) -> None:
    x = _leaf(bg, 2)
    y = x
    for _ in range(3000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_only_floats_require_gradients(bg: Any) -> None:
    with pytest.raises(TypeError, match="must be a float or complex dtype, got int64"):
        bg.arange(3).requires_grad_()
    x = _leaf(bg, 2)
    with pytest.raises(RuntimeError, match="computed from no array"):
        x.detach().sum().backward()
    with pytest.raises(ValueError, match="detach"):
        (x * 2).requires_grad = False
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_a_second_sweep_needs_to_be_asked_for(bg: Any) -> None:
    x = _leaf(bg, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * x.detach().numpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_operations_that_are_not_recorded(bg: Any) -> None:
    x = _leaf(bg, 2)
    with bg.no_grad():
        assert not (x * 2).requires_grad
        assert not bg.is_grad_enabled()
        with bg.enable_grad():
            assert (x * 2).requires_grad

    @bg.no_grad()
    def twice(v: Any) -> Any:
        return v * 2

    assert not twice(x).requires_grad
    assert bg.is_grad_enabled()
    assert not (x.detach() * 2).requires_grad
    assert not (x > 1).requires_grad
    assert not bg.argmax(x).requires_grad
    assert not bg.signbit(x).requires_grad
    assert not bg.zeros_like(x).requires_grad


def test_no_grad_ends_with_an_exception(bg: Any) -> None:
    with pytest.raises(ZeroDivisionError), bg.no_grad():
        _ = 1 / 0
    assert bg.is_grad_enabled()


def test_values_are_read_as_of_other_arrays(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    assert x.tolist() == [1, 2]
    assert float(x[0]) == 1
    assert np.asarray(x.detach()).tolist() == [1, 2]
    assert (x == 1).tolist() == [True, False]
    assert "requires_grad=True" in repr(x)
    assert 2 in x
    assert [float(v) for v in x] == [1, 2]
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2,), 1, 2, np.float32, 2)


# -- NumPy, numbers, lists beside them ------------------------------------------------------------


def test_operators_with_everything(bg: Any) -> None:
    other = np.float32([3, 4])
    for ours in (
        lambda v: v + other, lambda v: other * v, lambda v: v - [1.0, 2.0], lambda v: 1 / v,
        lambda v: np.sin(v), lambda v: np.add(v, other), lambda v: v @ v, lambda v: other @ v,
        lambda v: np.sum(v * v), lambda v: np.concatenate([v, v * 2]), lambda v: np.float32(2) * v,
        lambda v: v[0] * v, lambda v: -v[::-1], lambda v: abs(v) ** 2,
    ):  # fmt: skip
        gradients_agree(bg, ours, ours, [_values(2)])


def test_methods(bg: Any) -> None:
    for ours in (
        lambda v: v.sum(axis=0), lambda v: v.mean(), lambda v: v.max(axis=1), lambda v: v.T,
        lambda v: v.reshape(-1), lambda v: v.ravel()[1:], lambda v: v.std(axis=0),
        lambda v: v.var(), lambda v: v.prod(axis=1), lambda v: v.min(), lambda v: v.squeeze(),
        lambda v: v.swapaxes(0, 1) * 2, lambda v: v.clip(0.7, 1.5), lambda v: v[1].copy(),
    ):  # fmt: skip
        gradients_agree(bg, ours, ours, [_values(2, 3)])


def test_shapes_of_functions(bg: Any) -> None:
    for ours, theirs in (
        (lambda v: bg.permute_dims(v, (2, 0, 1)), lambda v: np.transpose(v, (2, 0, 1))),
        (lambda v: bg.expand_dims(v, axis=1), lambda v: np.expand_dims(v, 1)),
        (lambda v: bg.flip(v, axis=1), lambda v: np.flip(v, 1)),
        (lambda v: bg.roll(v, (1, 2), axis=(0, 2)), lambda v: np.roll(v, (1, 2), (0, 2))),
        (lambda v: bg.moveaxis(v, 0, 2), lambda v: np.moveaxis(v, 0, 2)),
        (lambda v: bg.stack([v, v * v], axis=1), lambda v: np.stack([v, v * v], 1)),
        (lambda v: bg.concat([v, v * v], axis=None), lambda v: np.concatenate([v, v * v], None)),
        (lambda v: bg.unstack(v, axis=1)[1], lambda v: v[:, 1]),
        (lambda v: bg.tile(v, (2, 1, 3, 1)), lambda v: np.tile(v, (2, 1, 3, 1))),
        (lambda v: bg.broadcast_to(v, (2, 2, 3, 2)), lambda v: np.broadcast_to(v, (2, 2, 3, 2))),
        (lambda v: bg.tril(v), np.tril),
        (lambda v: bg.matrix_transpose(v), lambda v: np.swapaxes(v, -1, -2)),
        (lambda v: bg.broadcast_arrays(v, v[0])[1], lambda v: np.broadcast_arrays(v, v[0])[1]),
        (lambda v: v[1, ..., ::2], lambda v: v[1, ..., ::2]),
        (lambda v: v[:, None, 1:], lambda v: v[:, None, 1:]),
    ):
        gradients_agree(bg, ours, theirs, [_values(2, 3, 2)])


@pytest.mark.parametrize(
    "shapes",
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)),
     ((2, 1, 2, 3), (3, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,))],
)  # fmt: skip
def test_products(bg: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = [_values(*shape, seed=n) for n, shape in enumerate(shapes)]
    gradients_agree(bg, bg.matmul, np.matmul, arrays)


# -- in place -------------------------------------------------------------------------------------


def test_in_place(bg: Any) -> None:
    x = _leaf(bg, 3)
    y = x * 2
    kept = y * y
    y += x
    y *= 3
    (kept.sum() + y.sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), 8 * x.detach().numpy() + 9, rtol=1e-6)
    with pytest.raises(ValueError, match="leaf"):
        x += 1
    with bg.no_grad():
        x -= 0.5 * x.grad
    assert x.requires_grad
    assert x.is_leaf


def test_assignment(bg: Any) -> None:
    x, v = _leaf(bg, 2, 3), _leaf(bg, 3, seed=1)
    y = x * 1
    y[0] = v * v
    y[1, 1] = 0
    (y * y).sum().backward()
    expected = 2 * x.detach().numpy()
    expected[0] = expected[1, 1] = 0
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(v.grad.numpy(), 4 * v.detach().numpy() ** 3, rtol=1e-5)


def test_arrays_assigned_a_tracked_value_require_gradients(bg: Any) -> None:
    v = _leaf(bg, 2)
    total = bg.zeros(2)
    total += v * 2
    table = bg.zeros((2, 2))
    table[1] = v
    (total.sum() + (table * 3).sum()).backward()
    assert v.grad.tolist() == [5, 5]


# -- grad and its kin -----------------------------------------------------------------------------


def test_grad_of_trees(bg: Any) -> None:
    given = {"w": bg.asarray(_values(2)), "more": [bg.asarray(_values(2, seed=1)), 3, (2.0, None)]}

    def loss(tree: Any, scale: float) -> Any:
        return (tree["w"] * tree["more"][0] * tree["more"][1]).sum() * tree["more"][2][0] * scale

    found = bg.grad(loss)(given, 2.0)
    np.testing.assert_allclose(found["w"].numpy(), 12 * _values(2, seed=1), rtol=1e-6)
    assert found["more"][1] is None
    assert found["more"][2][1] is None
    assert float(found["more"][2][0]) == pytest.approx(
        float((6 * _values(2) * _values(2, seed=1)).sum())
    )
    value, both = bg.value_and_grad(loss, argnums=(0, 1))(given, 2.0)
    assert not value.requires_grad
    assert float(both[1]) == pytest.approx(float(value) / 2)


def test_errors_of_grad_name_the_problem(bg: Any) -> None:
    x = bg.ones(3)
    with pytest.raises(ValueError, match="one real number"):
        bg.grad(lambda v: v * 2)(x)
    with pytest.raises(TypeError, match="array"):
        bg.grad(lambda v: 3)(x)
    with pytest.raises(ValueError, match="argnums"):
        bg.grad(lambda v: v.sum(), argnums=1)(x)


def test_grad_of_an_independent_value_is_zero(bg: Any) -> None:
    assert bg.grad(lambda v, w: w.sum())(bg.ones(2), bg.ones(3)).tolist() == [0, 0]
    assert bg.grad(lambda v: bg.ones(()))(bg.ones(2)).tolist() == [0, 0]


def test_aux(bg: Any) -> None:
    gradient, aux = bg.grad(lambda v: ((v * v).sum(), {"twice": v * 2}), has_aux=True)(bg.ones(2))
    assert gradient.tolist() == [2, 2]
    assert not aux["twice"].requires_grad
    (value, aux), gradient = bg.value_and_grad(lambda v: (v.sum(), v), has_aux=True)(bg.ones(2))
    assert float(value) == 2


def test_derivatives_of_derivatives(bg: Any) -> None:
    x = bg.asarray(np.float32(1.5))
    f = bg.grad(bg.grad(bg.grad(lambda v: v**4 + bg.sin(v))))
    assert float(f(x)) == pytest.approx(24 * 1.5 - np.cos(1.5), rel=1e-5)
    hessian = bg.stack(
        [bg.grad(lambda v, n=n: bg.grad(lambda w: (w[0] ** 2 * w[1]).sum())(v)[n])(bg.ones(2))
         for n in range(2)]
    )  # fmt: skip
    assert hessian.tolist() == [[2, 2], [2, 0]]


def test_a_gradient_within_a_loss(bg: Any) -> None:
    x = _leaf(bg, 3)
    slope = bg.grad(lambda v: (v**3).sum())(x)
    (slope * slope).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 36 * x.detach().numpy() ** 3, rtol=1e-4)
    y = _leaf(bg, 3)
    z = (y**3).sum()
    z.backward(create_graph=True)
    first = y.grad
    y.grad = None
    (first * first).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 36 * y.detach().numpy() ** 3, rtol=1e-4)


def test_inner_and_outer_variables_are_not_confused(bg: Any) -> None:
    # Source: Siskind and Pearlmutter, Perturbation confusion, 2005: d/dx (x d/dy (x + y)) = 1.
    found = bg.grad(lambda x: x * bg.grad(lambda y: x + y)(bg.asarray(1.0)))(bg.asarray(1.0))
    assert float(found) == 1


def test_results_of_jvp_have_gradients(bg: Any) -> None:
    """By another transform's arguments, by closed-over variables, and by tangents."""
    x, along = bg.asarray([0.25, 1.5]), bg.ones(2)

    def f(x: Any) -> Any:
        return x**4

    def slope(p: Any) -> Any:
        return bg.jvp(f, (p,), (along,))[1]

    second = bg.jvp(slope, (x,), (along,))[1]
    np.testing.assert_allclose(second, 12 * np.array([0.25, 1.5]) ** 2, rtol=1e-5)
    third = bg.grad(lambda p: bg.jvp(slope, (p,), (along,))[1].sum())(x)
    np.testing.assert_allclose(third, 24 * np.array([0.25, 1.5]), rtol=1e-5)
    w = bg.asarray(3.0).requires_grad_()
    bg.jvp(lambda p: w * f(p), (x,), (along,))[1].sum().backward()
    np.testing.assert_allclose(w.grad, 4 * (0.25**3 + 1.5**3), rtol=1e-5)
    t = bg.asarray([1.0, 2.0]).requires_grad_()
    bg.jvp(f, (x,), (t,))[1].sum().backward()
    np.testing.assert_allclose(t.grad, 4 * np.array([0.25, 1.5]) ** 3, rtol=1e-5)
    with bg.no_grad():
        assert not bg.jvp(lambda p: w * f(p), (x,), (along,))[1].requires_grad


def test_vjp_and_jvp(bg: Any) -> None:
    x, y = bg.asarray(_values(3)), bg.asarray(_values(3, seed=1))
    value, pullback = bg.vjp(lambda a, b: (a * b, bg.exp(a)), x, y)
    assert not value[0].requires_grad
    for _ in range(2):
        by_x, by_y = pullback((bg.ones(3), bg.zeros(3)))
        np.testing.assert_allclose(by_x.numpy(), y.numpy())
        np.testing.assert_allclose(by_y.numpy(), x.numpy())
    value, tangent = bg.jvp(lambda a, b: (a * b, a.sum()), (x, y), (bg.ones(3), 2 * bg.ones(3)))
    np.testing.assert_allclose(tangent[0].numpy(), y.numpy() + 2 * x.numpy(), rtol=1e-5)
    assert float(tangent[1]) == 3
    hessian_product = bg.jvp(bg.grad(lambda a: (a**3).sum()), (x,), (bg.ones(3),))[1]
    np.testing.assert_allclose(hessian_product.numpy(), 6 * x.numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="cotangent"):
        pullback((bg.ones(3),))


def test_custom_vjp(bg: Any) -> None:
    @bg.custom_vjp
    def clipped(x: Any, limit: float) -> Any:
        return x

    clipped.defvjp(
        lambda x, limit: (x * 1, limit), lambda limit, g: (bg.clip(g, -limit, limit), None)
    )
    x = _leaf(bg, 3)
    (clipped(x, 0.5) * bg.asarray(np.float32([0.1, 2, -3]))).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.1, 0.5, -0.5], rtol=1e-6)

    @bg.custom_vjp
    def cubed(x: Any) -> Any:
        return x**3

    with pytest.raises(RuntimeError, match="defvjp"):
        cubed(x)
    cubed.defvjp(lambda x: (x**3, x), lambda x, g: (3 * x * x * g,))
    y = bg.asarray(_values(3))
    second = bg.grad(lambda v: bg.grad(lambda w: cubed(w).sum())(v).sum())(y)
    np.testing.assert_allclose(second.numpy(), 6 * y.numpy(), rtol=1e-5)


def test_custom_vjp_around_another(bg: Any) -> None:
    inner = bg.custom_vjp(lambda x: x * 2)
    inner.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 10,))
    outer = bg.custom_vjp(bg.vmap(inner))
    x = _leaf(bg, 3)
    np.testing.assert_allclose(outer(x.detach()).numpy(), 2 * x.detach().numpy())
    with pytest.raises(RuntimeError, match="defvjp"):
        outer(x)
    outer.defvjp(lambda x: (inner(x), None), lambda _, g: (g * 7,))
    outer(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [7, 7, 7])
    assert bg.grad(inner)(bg.asarray(1.0)).item() == 10


def test_checkpoint_gives_the_same_and_keeps_less(bg: Any) -> None:
    w = _leaf(bg, 4)
    x = _leaf(bg, 4, seed=1)

    def part(v: Any) -> Any:
        for _ in range(3):
            v = bg.tanh(v * w) + v * x
        return v

    def loss(of: Any) -> list[np.ndarray]:
        w.grad = x.grad = None
        (of(of(x)) ** 2).sum().backward()
        return [w.grad.numpy(), x.grad.numpy()]

    for plain, again in zip(loss(part), loss(bg.checkpoint(part)), strict=True):
        np.testing.assert_allclose(again, plain, rtol=1e-4)
    own = bg.asarray(_values(4))

    def slope(of: Any) -> Any:
        return bg.grad(lambda v: (bg.grad(lambda u: (of(u) ** 2).sum())(v) ** 2).sum())(own)

    cube = lambda v: v * v * v  # noqa: E731
    np.testing.assert_allclose(slope(bg.checkpoint(cube)).numpy(), slope(cube).numpy(), rtol=1e-4)


def test_checkpoint_of_a_function_of_a_result_and_its_origin(bg: Any) -> None:
    w = _leaf(bg, 3)

    def loss(wrap: Any) -> np.ndarray:
        w.grad = None
        twice = w * w
        part = wrap(lambda v: v * twice * w)
        (part(part(twice)) + twice).sum().backward()
        return w.grad.numpy()

    np.testing.assert_allclose(loss(bg.checkpoint), loss(lambda f: f), rtol=1e-5)


# -- what is kept ---------------------------------------------------------------------------------


def test_nothing_makes_a_circle(bg: Any) -> None:
    gc.collect()
    gc.disable()
    try:
        x = _leaf(bg, 3)
        y = bg.exp(x * x)
        z = (y * bg.sqrt(y)).sum()
        gone = [weakref.ref(one) for one in (x, y, z)]
        z.backward()
        del x, y, z
        assert [one() for one in gone] == [None] * 3
    finally:
        gc.enable()


def test_a_loss_that_is_stored_keeps_nothing(bg: Any) -> None:
    memory = bg.default_device().memory
    x = bg.asarray(np.ones(1 << 16, np.float32)).requires_grad_()
    losses = []

    def rounds(number: int) -> None:
        for _ in range(number):
            loss = (bg.exp(x) * x).sum()
            loss.backward()
            losses.append(loss)
            float(loss)
        x.grad.numpy()
        gc.collect()

    rounds(3)
    before = memory.in_use
    rounds(5)
    assert memory.in_use - before < 1 << 16


def test_steps_that_fail_leave_nothing(bg: Any) -> None:
    memory = bg.default_device().memory
    x = bg.asarray(np.ones(1 << 14, np.float32)).requires_grad_()

    def step(fails: bool) -> None:
        y = bg.exp(x) * x
        if fails:
            raise ZeroDivisionError
        y.sum().backward()
        with bg.no_grad():
            x.__isub__(x.grad * 1e-3)
        x.grad = None
        bg.eval(x)

    step(False)
    x.detach().numpy()
    gc.collect()
    before = memory.in_use
    for n in range(200):
        try:
            step(n % 3 == 0)
        except ZeroDivisionError:
            continue
    x.detach().numpy()
    gc.collect()
    assert memory.in_use - before < 1 << 18


def test_a_rule_that_fails_leaves_gradients_as_they_were(bg: Any) -> None:
    @bg.custom_vjp
    def failing(x: Any) -> Any:
        return x

    def backward(kept: Any, g: Any) -> Any:
        raise ZeroDivisionError

    failing.defvjp(lambda x: (x * 1, None), backward)
    x, y = _leaf(bg, 2), _leaf(bg, 2, seed=1)
    with pytest.raises(ZeroDivisionError):
        (failing(y * 1).sum() + x.sum()).backward()
    assert x.grad is None


def test_functions_without_a_rule_raise(bg: Any) -> None:
    x = _leaf(bg, 3)
    own = bg.ElementwiseKernel("T x", "T y", "y = x * x")
    with pytest.raises(bg.errors.NotDifferentiable, match="detach"):
        own(x)
    assert own(x.detach()).shape == (3,)
