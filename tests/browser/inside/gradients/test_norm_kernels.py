"""Gradients of norms of rows by one kernel and a sum, against the closed form in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.spies import dispatched

pytestmark = [pytest.mark.native, pytest.mark.firefox]

EPS = 1e-3
#: The rows are 4 elements, fill threads partly, need several vec4s of a thread, or have no kernel.
SHAPES = [(3, 4), (70, 36), (2, 3, 768), (1100, 8), (5, 4100), (2, 8192), (2, 8196), (6, 7), (1, 1)]


def numbers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def expected(g: np.ndarray, x: np.ndarray, w: Any, is_centred: bool) -> tuple[np.ndarray, ...]:
    """The gradients for input, weight and bias over the last axis, in float64."""
    g, x = g.astype(float), x.astype(float)
    own = g if w is None else g * w.astype(float)
    if is_centred:
        x = x - x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPS)
    found = x * scale
    inner = own - found * (own * found).mean(-1, keepdims=True)
    if is_centred:
        inner = inner - own.mean(-1, keepdims=True)
    rows = tuple(range(x.ndim - 1))
    return inner * scale, (g * found).sum(rows), g.sum(rows)


def close(found: Any, wanted: np.ndarray, tolerance: float = 2e-5) -> None:
    """Compare with a tolerance relative to the largest value, since sums of float32 round."""
    values = found.numpy().astype(float)
    assert np.isfinite(values).all()
    assert np.abs(values - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max())


def norm_of(bg: Any, x: Any, w: Any, b: Any, is_centred: bool) -> Any:
    length = x.shape[-1]
    if is_centred:
        return bg.nn.layer_norm(x, length, w, b, eps=EPS)
    return bg.nn.rms_norm(x, length, w, eps=EPS)


@pytest.mark.parametrize("is_centred", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_gradients(bg: Any, shape: tuple[int, ...], is_centred: bool) -> None:
    x, g = numbers(0, *shape) + 3, numbers(1, *shape)
    w, b = numbers(2, shape[-1]), numbers(3, shape[-1])
    ours = [bg.asarray(one).requires_grad_() for one in (x, w, b)]
    norm_of(bg, *ours, is_centred).backward(bg.asarray(g))
    wanted = expected(g, x, w, is_centred)
    for own, gradient in zip(ours[: 2 + is_centred], wanted, strict=False):
        assert own.grad.shape == own.shape
        close(own.grad, gradient)


@pytest.mark.parametrize(
    ("is_centred", "needed"),
    [
        *((True, needed) for needed in ("x", "xw", "xb", "w", "b", "wb")),
        *((False, needed) for needed in ("x", "w")),
    ],
)
def test_some_gradients(bg: Any, is_centred: bool, needed: str) -> None:
    """The kernel leaves out the sums that nobody needs."""
    x, g, w, b = numbers(0, 40, 12), numbers(1, 40, 12), numbers(2, 12), numbers(3, 12)
    ours = {name: bg.asarray(one) for name, one in (("x", x), ("w", w), ("b", b))}
    for name in needed:
        ours[name].requires_grad_()
    norm_of(bg, *ours.values(), is_centred).backward(bg.asarray(g))
    wanted = dict(zip("xwb", expected(g, x, w, is_centred), strict=True))
    for name in needed:
        close(ours[name].grad, wanted[name])


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 4)])
def test_several_axes(bg: Any, shape: tuple[int, ...]) -> None:
    x, g = numbers(0, 5, *shape), numbers(1, 5, *shape)
    w, b = numbers(2, *shape), numbers(3, *shape)
    ours = [bg.asarray(one).requires_grad_() for one in (x, w, b)]
    bg.nn.layer_norm(ours[0], shape, *ours[1:], eps=EPS).backward(bg.asarray(g))
    flat = [one.reshape(5, -1) for one in (g, x)]
    for own, gradient in zip(ours, expected(*flat, w.reshape(-1), True), strict=True):
        close(own.grad, gradient.reshape(own.shape))


@pytest.mark.parametrize("is_centred", [True, False])
@pytest.mark.parametrize("dtypes", [("float16", "float16"), ("float32", "float16")])
def test_float16(bg: Any, dtypes: tuple[str, str], is_centred: bool) -> None:
    """Gradients are rounded once, to the dtype of their array."""
    x, w = numbers(0, 9, 64).astype(dtypes[0]), numbers(2, 64).astype(dtypes[1])
    own = [bg.asarray(one).requires_grad_() for one in (x, w)]
    y = norm_of(bg, *own, None, is_centred)
    g = numbers(1, 9, 64).astype(y.dtype)
    y.backward(bg.asarray(g))
    for one, wanted in zip(own, expected(g, x, w, is_centred), strict=False):
        assert one.grad.dtype == one.dtype
        close(one.grad, wanted, 1e-3)  # half a unit in the last place of float16 is 5e-4


def test_equal_values_and_a_large_mean(bg: Any) -> None:
    """Rows of equal values have no deviation, and a mean of 1e4 costs no digits."""
    x = np.full((4, 24), 1e4, np.float32)
    x[1:] += np.round(numbers(0, 3, 24) * 64) / 64  # exact in float32
    g, w = numbers(1, 4, 24), numbers(2, 24)
    own = bg.asarray(x).requires_grad_()
    norm_of(bg, own, bg.asarray(w), None, True).backward(bg.asarray(g))
    close(own.grad, expected(g, x, w, True)[0], 1e-4)


def test_inputs_that_the_kernel_computes(bg: Any) -> None:
    """The input is a transposed view, and the gradient an expression of many arrays."""
    x, w = numbers(0, 48, 40), numbers(2, 48)
    many = [numbers(3 + n, 40, 48) for n in range(9)]

    def loss(x: Any, w: Any, *more: Any) -> Any:
        y = norm_of(bg, x.T, w, None, True)
        factor = more[0]
        for one in more[1:]:
            factor = factor * 0.5 + one
        return (y * factor).sum()

    found = bg.grad(loss, argnums=(0, 1))(*map(bg.asarray, (x, w, *many)))
    g = many[0].astype(float)
    for one in many[1:]:
        g = g * 0.5 + one
    wanted = expected(g, x.T, w, True)
    close(found[0], wanted[0].T)
    close(found[1], wanted[1])


@pytest.mark.parametrize("optimize", [True, False])
def test_a_product_whose_result_is_normalised(bg: Any, optimize: bool) -> None:
    """In a compiled function, the kernel waits for products that are recorded."""
    x, v, w, t = numbers(0, 12, 8), numbers(1, 8, 16), numbers(2, 16), numbers(3, 12, 16)

    def step(x: Any, v: Any, w: Any) -> Any:
        def loss(x: Any, v: Any, w: Any) -> Any:
            return (norm_of(bg, x @ v, w, None, True) * bg.asarray(t)).sum()

        return bg.grad(loss, argnums=(0, 1, 2))(x, v, w)

    compiled = bg.jit(step, optimize=optimize)
    for seed in (0, 5, 7):
        x = numbers(seed, 12, 8)
        found = compiled(*map(bg.asarray, (x, v, w)))
        of_y, of_w, _ = expected(t, x.astype(float) @ v, w, True)
        for own, wanted in zip(found, (of_y @ v.T, x.T @ of_y, of_w), strict=True):
            close(own, wanted)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize(("is_centred", "dtype"), [(True, "f4"), (False, "f4"), (True, "f2")])
def test_a_residual_is_added_by_the_kernel(
    bg: Any, optimize: bool, is_centred: bool, dtype: str
) -> None:
    """The gradient of an input that has another use, too."""
    w, b, t = numbers(2, 16), numbers(3, 16), numbers(4, 12, 16)

    def step(x: Any, w: Any, b: Any, t: Any) -> Any:
        arrays = [one.detach().requires_grad_() for one in (x, w, b)]
        (arrays[0] + norm_of(bg, *arrays, is_centred)).backward(t)
        return [one.grad for one in arrays[: 2 + is_centred]]

    compiled = bg.jit(step, optimize=optimize)
    for seed in range(3):
        x = numbers(seed, 12, 16).astype(dtype)
        found = compiled(*map(bg.asarray, (x, w, b, t)))
        wanted = expected(t, x, w, is_centred)
        wanted = (wanted[0] + t, *wanted[1:])
        for own, gradient in zip(found, wanted, strict=False):
            close(own, gradient, 1e-3 if dtype == "f2" else 2e-5)
    merged = compiled.explain().variants[0]["merged"]
    is_merged = optimize and is_centred and dtype == "f4"
    assert merged.get("layer_norm with add") == (1 if is_merged else None)


def test_gradients_that_wait_have_the_values_of_their_time(bg: Any) -> None:
    """A compiled function changes the input before anything reads the gradients."""
    w, b, t = numbers(2, 16), numbers(3, 16), numbers(4, 12, 16)

    @bg.jit
    def step(x: Any, w: Any, b: Any) -> Any:
        def loss(x: Any, w: Any, b: Any) -> Any:
            return (norm_of(bg, x, w, b, True) * bg.asarray(t)).sum()

        found = bg.grad(loss, argnums=(0, 1, 2))(x, w, b)
        x *= 0
        w += 1
        return found[0] + t, found[0], *found[1:]

    for seed in range(4):
        x = numbers(seed, 12, 16)
        arrays = [bg.asarray(one) for one in (x, w, b)]
        found = step(*arrays)
        of_x, of_w, of_b = expected(t, x, w, True)
        for own, wanted in zip(found, (of_x + t, of_x, of_w, of_b), strict=True):
            close(own, wanted)
        assert not arrays[0].numpy().any()
        np.testing.assert_array_equal(arrays[1].numpy(), w + 1)


@pytest.mark.parametrize("names", [("w",), ("b",), ("b", "w"), ("x",), ("w", "x")])
def test_any_of_the_waiting_gradients_can_be_read(bg: Any, names: tuple[str, ...]) -> None:
    x, w, b, t = numbers(0, 12, 16), numbers(2, 16), numbers(3, 16), numbers(4, 12, 16)
    own = {name: bg.nn.Parameter(bg.asarray(one)) for name, one in (("x", x), ("w", w), ("b", b))}

    @bg.jit
    def step(t: Any) -> Any:
        for one in own.values():
            one.grad = None
        norm_of(bg, *own.values(), True).backward(t)
        return [own[name].grad * 2 for name in names]

    wanted = dict(zip("xwb", expected(t, x, w, True), strict=True))
    for _ in range(4):
        for name, found in zip(names, step(bg.asarray(t)), strict=True):
            close(found, 2 * wanted[name])
    for name, one in own.items():
        close(one.grad, wanted[name])


@pytest.mark.fast
def test_the_gradients_of_a_norm_are_two_kernels(bg: Any) -> None:
    shapes = [(300, 8), (8,), (8,), (300, 8)]
    x, w, b, g = (bg.asarray(numbers(n, *s)) for n, s in enumerate(shapes))
    for one in (x, w, b):
        one.requires_grad_()
    y = bg.nn.layer_norm(x, 8, w, b)
    with dispatched(x.device) as kernels:
        y.backward(g)
        bg.eval(x.grad, w.grad, b.grad)
    assert kernels == ["fused", "norm_sums"]
    x, w = (one.detach().requires_grad_() for one in (x, w))
    y = bg.nn.rms_norm(x, 8, w)
    bg.eval(y)
    with dispatched(x.device) as kernels:
        y.backward(g)
        bg.eval(x.grad, w.grad)
    assert kernels == ["fused", "fused"]


def test_nan_is_found(bg: Any) -> None:
    """NaN of a row stays in its row, and reaches the sums."""
    x, g = numbers(0, 6, 8), numbers(1, 6, 8)
    g[2, 3] = np.nan
    own, w = bg.asarray(x).requires_grad_(), bg.ones(8).requires_grad_()
    norm_of(bg, own, w, None, True).backward(bg.asarray(g))
    assert np.isnan(own.grad.numpy()).all(axis=1).tolist() == [n == 2 for n in range(6)]
    assert np.isnan(w.grad.numpy()).tolist() == [n == 3 for n in range(8)]


def test_check_nan_names_the_gradient() -> None:
    """In debug mode, the first kernel that computes NaN is reported."""
    import browsergpu as bg
    from browsergpu import BackendConfig, WasmBackend
    from browsergpu.errors import ValidationError

    with WasmBackend(BackendConfig(debug_mode=True, check_nan=True)) as backend:
        backend.init()
        bg.use(backend)
        x, w = (bg.asarray(numbers(n, *s)).requires_grad_() for n, s in enumerate([(6, 8), (8,)]))
        norm_of(bg, x, w, bg.zeros(8).requires_grad_(), True).backward(bg.ones((6, 8)))
        assert np.isfinite(x.grad.numpy()).all()
        g = numbers(1, 6, 8)
        g[2, 3] = np.nan
        with pytest.raises(ValidationError, match="norm gradient: 8 of 48 elements of 'y' are NaN"):
            norm_of(bg, x, w, None, True).backward(bg.asarray(g))
        del x, w
