"""KernelExecutor's add to div, and its matrix products, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.kernels.variants import VARIANTS
from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, only_variant, random_array
from inside.spies import dispatched

pytestmark = pytest.mark.native

OPS = ("add", "sub", "mul", "div")
WHOLE = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


def check(executor: Any, op: str, a: np.ndarray, b: np.ndarray) -> None:
    result = getattr(executor, op)(executor.from_numpy(a), executor.from_numpy(b))
    wide_a, wide_b = np.broadcast_arrays(a, b)
    assert_matches(
        result.numpy(),
        reference.binary(op, a, b),
        **tolerances.binary(op, wide_a, wide_b)._asdict(),
    )


PAIRS = [
    ((7,), (7,)), ((3, 5), (5,)), ((5,), (3, 5)), ((3, 1), (1, 5)), ((4, 3, 5), (3, 1)), ((), (6,)),
    ((2, 3), ()), ((), ()), ((1,), (9,)), ((1, 1, 5), (5,)), ((0, 3), (3,)), ((1, 3), (0, 3)),
    ((2, 1, 3, 1, 5), (1, 4, 1, 2, 1)), ((2, 1, 2, 1, 2, 1, 2), (1, 3, 1, 3, 1, 3, 1)),
    ((257, 8), (8,)), ((8,), (257, 1)), ((5, 12), (5, 1)), ((3, 5, 4), (3, 1, 4)), ((1, 8), (7, 8)),
    ((3, 4, 2, 8), (4, 1, 8)), ((2, 1, 3, 1, 8), (1, 4, 1, 2, 8)), ((3, 2, 2), (3, 1, 2)),
    ((2, 3, 2, 4), (3, 1, 4)), ((2, 4, 6, 1, 4), (2, 1, 6, 3, 1)),
    ((257, 3), (3,)), ((3, 1025), (3, 1)), ((2, 3, 4, 5), (3, 1, 5)), ((1, 5), (5, 1)),
]  # fmt: skip


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_broadcasting(executor: Any, op: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check(executor, op, random_array(1, *a), random_array(2, *b))


@pytest.mark.parametrize("op", OPS)
def test_special_values(executor: Any, op: str) -> None:
    values = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan], np.float32)
    check(executor, op, values[:, None], values)


@given(data=st.data())
def test_any_shapes(executor: Any, data: st.DataObject) -> None:
    whole = data.draw(st.lists(st.integers(1, 5), max_size=5), "shape")
    ones = st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))
    shapes = [
        [1 if one else extent for one, extent in zip(data.draw(ones), whole, strict=True)]
        [data.draw(st.integers(0, len(whole)), "axes left out") :]
        for _ in range(2)
    ]  # fmt: skip
    op = data.draw(st.sampled_from(OPS), "op")
    check(executor, op, random_array(1, *shapes[0]), random_array(2, *shapes[1]))


@pytest.mark.parametrize("op", OPS)
def test_numbers_in_an_arrays_place(executor: Any, op: str) -> None:
    x = random_array(1, 5, 7)
    call = getattr(executor, op)
    number = np.full(1, 1.75, np.float32)
    array = executor.from_numpy(x)
    for result, a, b in ((call(array, 1.75), x, number), (call(1.75, array), number, x)):
        tolerance = tolerances.binary(op, *np.broadcast_arrays(a, b))
        assert_matches(result.numpy(), reference.binary(op, a, b), **tolerance._asdict())


@pytest.mark.fast
@pytest.mark.parametrize("op", WHOLE)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize(("a", "b"), [((300,), (300,)), ((5, 1), (1, 7)), ((4, 3), (3,))], ids=str)
def test_integers_wrap_around(
    executor: Any, op: str, dtype: Any, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    bounds = np.iinfo(dtype)
    generator = np.random.default_rng(1)
    x, y = (generator.integers(bounds.min, bounds.max, s, dtype, endpoint=True) for s in (a, b))
    result = getattr(executor, op)(executor.from_numpy(x), executor.from_numpy(y))
    with np.errstate(over="ignore"):
        assert_same_bits(result.numpy(), WHOLE[op](x, y), op)
    more = getattr(executor, op)(executor.from_numpy(x), 3).numpy()
    with np.errstate(over="ignore"):
        assert_same_bits(more, WHOLE[op](x, dtype(3)), "with a number")


@pytest.mark.parametrize("op", OPS)
def test_half_precision(executor: Any, op: str) -> None:
    a, b = random_array(1, 9, 5, dtype=np.float16), random_array(2, 5, dtype=np.float16)
    call = getattr(executor, op)
    result = call(executor.from_numpy(a), executor.from_numpy(b))
    assert_matches(
        result.numpy(), reference.binary(op, a, b), rtol=1.01 * tolerances.F16_U, atol=2.0**-24,
        why="one rounding to float16", dtype=np.float16,
    )  # fmt: skip
    mixed = call(executor.from_numpy(a), executor.from_numpy(b.astype(np.float32)))
    assert mixed.dtype == "f32"


# -- dispatches ------------------------------------------------------------------------------------

#: Lengths that end within a vec4, within a word of two halves, within eight words, or within a
#: workgroup.
ENDS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 1021, 2048, 4099)
HALF = tolerances.Tolerance(1.01 * tolerances.F16_U, 2.0**-24, "one rounding to float16")


def check_floats(result: Any, expected: np.ndarray, tolerance: tolerances.Tolerance) -> None:
    """Compare a result computed in float32 and stored in float32 or float16."""
    got = result.numpy()
    if got.dtype == np.float16:
        rtol, atol, why = tolerance
        tolerance = tolerances.Tolerance(rtol + HALF.rtol, atol + HALF.atol, f"{why}; {HALF.why}")
    assert_matches(got, expected, dtype=got.dtype, **tolerance._asdict())


@pytest.mark.parametrize("reverse", [False, True], ids=["array first", "number first"])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i4", "u4"])
@pytest.mark.parametrize("op", OPS)
def test_an_array_with_a_number_is_one_dispatch(
    executor: Any, op: str, dtype: str, reverse: bool
) -> None:
    is_float = dtype in ("f4", "f2")
    if op == "div" and not is_float:
        pytest.skip("floats alone are divided")
    call = getattr(executor, op)
    value = 1.75 if is_float else 7
    for n in ENDS:
        x = random_array(1, n, dtype=dtype) if is_float else np.arange(5, n + 5).astype(dtype)
        array, scalar = executor.from_numpy(x), np.full(1, value, dtype)
        a, b = (scalar, x) if reverse else (x, scalar)
        given = (value, array) if reverse else (array, value)
        with dispatched(executor.device) as kernels:
            result = call(*given)
            call(*given, array)
        assert kernels == ["fused", "fused"]
        for got in (result, array):
            if is_float:
                tolerance = tolerances.binary(op, *np.broadcast_arrays(a, b))
                check_floats(got, reference.binary(op, a, b), tolerance)
            else:
                with np.errstate(over="ignore"):
                    assert_same_bits(got.numpy(), WHOLE[op](a, b), op)


@pytest.mark.parametrize(("into", "out"), [("f2", "f4"), ("f4", "f2")])
def test_an_array_with_a_number_into_another_type(executor: Any, into: str, out: str) -> None:
    for n in ENDS:
        x, number = random_array(1, n, dtype=into), np.full(n, 0.5, into)
        result = executor.from_numpy(np.zeros(n, out))
        with dispatched(executor.device) as kernels:
            executor.sub(0.5, executor.from_numpy(x), result)
        assert kernels == ["fused"]
        check_floats(
            result, reference.binary("sub", number, x), tolerances.binary("sub", number, x)
        )


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0, 7e4, 1e300])
def test_special_numbers_with_special_elements(executor: Any, dtype: str, value: float) -> None:
    x = np.array([0.0, -0.0, 1.0, -6e4, np.inf, -np.inf, np.nan], dtype)
    array = executor.from_numpy(x)
    with np.errstate(all="ignore"):
        number = np.full(x.shape, value).astype(dtype)
        for op in OPS:
            for got, a, b in (
                (getattr(executor, op)(array, value), x, number),
                (getattr(executor, op)(value, array), number, x),
            ):
                check_floats(got, reference.binary(op, a, b), tolerances.binary(op, a, b))


@pytest.mark.parametrize("types", ["f2 f2 f2", "f2 f2 f4", "f2 f4 f4", "f4 f2 f2", "f4 f4 f2"])
def test_halves_take_one_dispatch(executor: Any, types: str) -> None:
    first, second, out = (np.dtype(code) for code in types.split())
    shapes = [((n,), (n,)) for n in ENDS] + [pair for pair in PAIRS if len(pair[0]) < 6]
    for i, (a, b) in enumerate(shapes):
        x, y = random_array(1, *a, dtype=first), random_array(2, *b, dtype=second)
        op = OPS[i % len(OPS)]
        left, right = executor.from_numpy(x), executor.from_numpy(y)
        wide_x, wide_y = np.broadcast_arrays(x, y)
        result = executor.from_numpy(np.full(wide_x.shape, SENTINEL, out))
        with dispatched(executor.device) as kernels:
            getattr(executor, op)(left, right, result)
        assert kernels == ["fused"] * bool(wide_x.size), (a, b)
        check_floats(result, reference.binary(op, x, y), tolerances.binary(op, wide_x, wide_y))


def test_halves_whose_axes_alternate(executor: Any) -> None:
    a, b = (2, 1, 2, 1, 2, 1, 2), (1, 3, 1, 3, 1, 3, 1)
    x, y = random_array(1, *a, dtype=np.float16), random_array(2, *b, dtype=np.float16)
    result = executor.mul(executor.from_numpy(x), executor.from_numpy(y))
    check_floats(result, reference.binary("mul", x, y), HALF)


@pytest.mark.parametrize("other", ["f2", "f4"])
@pytest.mark.parametrize("op", OPS)
def test_halves_in_place_take_one_dispatch(executor: Any, op: str, other: str) -> None:
    call = getattr(executor, op)
    for n in ENDS:
        x, y = random_array(1, n, dtype=np.float16), random_array(2, n, dtype=other)
        for exchanged in (False, True):
            array, second = executor.from_numpy(x), executor.from_numpy(y)
            a, b = (y, x) if exchanged else (x, y)
            given = (second, array) if exchanged else (array, second)
            with dispatched(executor.device) as kernels:
                call(*given, array)
            assert kernels == ["fused"]
            check_floats(array, reference.binary(op, a, b), tolerances.binary(op, a, b))
            assert_same_bits(second.numpy(), y, "the other one")
    array = executor.from_numpy(x)
    call(array, array, array)
    check_floats(array, reference.binary(op, x, x), tolerances.binary(op, x, x))


def test_nothing_past_the_end_is_written(executor: Any) -> None:
    """Kernels that take several elements at once leave memory after the last element unchanged."""
    from browsergpu.engine.tensors import pointwise
    from browsergpu.engine.tensors.view import View

    device = executor.device

    def part(array: Any, n: int) -> View:
        return View(array.buffer, (n,), array.dtype)

    for into, out in (("f2", "f2"), ("f2", "f4"), ("f4", "f2")):
        x = random_array(1, 40, dtype=into)
        source = executor.from_numpy(x)
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 17):
            for work in ("number", "unary", "binary", "in place"):
                target = executor.from_numpy(np.full(40, SENTINEL, out))
                y, z = part(source, n), part(target, n)
                if work == "number":
                    pointwise.with_number(device, "add", y, 0, z, reverse=False)
                elif work == "unary":
                    pointwise.unary(device, "relu", "relu", y, z)
                elif work == "binary":
                    pointwise.binary(device, "add", "add", y, y, z)
                else:
                    pointwise.binary(device, "add", "add", z, y, z)
                result = target.numpy()
                assert_same_bits(result[n:], np.full(40 - n, SENTINEL, out), f"{work} of {n}")
                assert not np.any(result[:n] == np.float16(SENTINEL)), f"{work} of {n}"


@pytest.mark.parametrize("op", ["relu", "sigmoid", "tanh"])
def test_activations_of_halves_are_one_dispatch(executor: Any, op: str) -> None:
    for n in ENDS:
        x = random_array(1, n, dtype=np.float16)
        array = executor.from_numpy(x)
        with dispatched(executor.device) as kernels:
            result = getattr(executor, op)(array)
            wide = getattr(executor, op)(array, executor.empty((n,)))
            getattr(executor, op)(array, array)
        assert kernels == ["fused"] * 3
        for got in (result, wide, array):
            check_floats(got, reference.unary(op, x), tolerances.unary(op, x))


@pytest.mark.fast
@pytest.mark.parametrize("op", OPS)
def test_out_may_be_an_input(executor: Any, op: str) -> None:
    a, b = random_array(1, 6, 5), random_array(2, 5)
    wide = np.broadcast_to(b, a.shape).copy()
    call = getattr(executor, op)
    tolerance = tolerances.binary(op, a, wide)._asdict()
    for second in (b, wide):
        x, y = executor.from_numpy(a), executor.from_numpy(second)
        assert call(x, y, x) is x
        assert_matches(x.numpy(), reference.binary(op, a, second), **tolerance)
    x, y = executor.from_numpy(a), executor.from_numpy(wide)
    call(x, y, y)
    assert_matches(y.numpy(), reference.binary(op, a, wide), **tolerance)
    x = executor.from_numpy(a)
    call(x, x, x)
    assert_matches(x.numpy(), reference.binary(op, a, a), **tolerances.binary(op, a, a)._asdict())


def test_arithmetic_that_is_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    floats, whole = executor.full((2, 3), 1.0), executor.full((2, 3), 1, "i32")
    for call, words in (
        (lambda: executor.add(floats, executor.empty((4,))), r"b must .*broadcasts with \(2, 3\)"),
        (lambda: executor.add(floats, whole), "add: b must .*cast"),
        (lambda: executor.add(whole, executor.full((2, 3), 1, "u32")), "add: b must .*cast"),
        (lambda: executor.div(whole, whole), "div: a must .*f32 or f16"),
        (lambda: executor.div(whole, 2), "div: a must .*f32 or f16"),
        (lambda: executor.add(whole, 1.5), "add: b must .*, got 1.5"),
        (lambda: executor.add(1.0, 2.0), "add: a must .*, got 1.0"),
        (lambda: executor.add(floats, "1"), "add: b must .*, got '1'"),
        (lambda: executor.add(executor.full((2,), True, "bool"), 1), "add: a must .*f32"),
        (lambda: executor.add(floats, 1.0, executor.empty((3, 2))), r"out must .*shape \(2, 3\)"),
        (lambda: executor.add(floats, 1.0, whole), "out must .*f32 or f16"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=words):
            call()


def test_operators(executor: Any) -> None:
    a, b = random_array(1, 3, 4), random_array(2, 4)
    x, y = executor.from_numpy(a), executor.from_numpy(b)
    for name, result, expected in (
        ("x + y", x + y, executor.add(x, y)), ("x - y", x - y, executor.sub(x, y)),
        ("x * y", x * y, executor.mul(x, y)), ("x / y", x / y, executor.div(x, y)),
        ("x @ y", x @ y, executor.matmul(x, y)), ("x + 2", x + 2, executor.add(x, 2)),
        ("2 - x", 2 - x, executor.sub(2, x)), ("0.5 * x", 0.5 * x, executor.mul(0.5, x)),
        ("1 / x", 1 / x, executor.div(1, x)), ("1 + x", 1 + x, executor.add(1, x)),
        ("float32 * x", np.float32(3) * x, executor.mul(3, x)),
        ("x - float32", x - np.float32(3), executor.sub(x, 3)),
    ):  # fmt: skip
        assert_same_bits(result.numpy(), expected.numpy(), name)
    before = x
    x += 1
    assert_same_bits(before.numpy(), a, "the array before +=")
    assert_same_bits(x.numpy(), a + np.float32(1), "the array after +=")


def test_operators_with_invalid_operands(executor: Any) -> None:
    x = executor.full((2, 3), 1.0)
    for other in ("1", None, [1.0], np.ones((2, 3), np.float32), 1j):
        for call in (
            lambda o=other: x + o, lambda o=other: o + x, lambda o=other: x * o,
            lambda o=other: o - x, lambda o=other: x / o, lambda o=other: x @ o,
            lambda o=other: o @ x,
        ):  # fmt: skip
            with pytest.raises(TypeError):
                call()
    with pytest.raises(TypeError):
        x @ 2.0


PRODUCTS = [
    ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((70, 33), (33, 65)), ((4,), (4,)), ((4,), (4, 5)),
    ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 6)), ((5, 1, 1, 3, 4), (1, 2, 1, 4, 2)), ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((0, 3, 4), (4, 5)), ((1, 3, 4), (4, 5)),
    ((2, 3, 3, 4), (2, 1, 4, 2)),
]  # fmt: skip


def check_product(
    result: Any, a: np.ndarray, b: np.ndarray, magnitude: np.ndarray | None = None
) -> None:
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    tolerance = tolerances.gemm(np.matmul(np.abs(wide_a), np.abs(wide_b)), a.shape[-1])
    assert_matches(result.numpy(), np.matmul(wide_a, wide_b), **tolerance._asdict())


@pytest.mark.fast
@pytest.mark.parametrize(("a", "b"), PRODUCTS, ids=str)
def test_matmul(executor: Any, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = random_array(1, *a), random_array(2, *b)
    check_product(executor.matmul(executor.from_numpy(x), executor.from_numpy(y)), x, y)


@pytest.mark.parametrize(("a", "b"), PRODUCTS, ids=str)
def test_matmul_of_halves(executor: Any, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = random_array(1, *a, dtype=np.float16), random_array(2, *b, dtype=np.float16)
    result = executor.matmul(executor.from_numpy(x), executor.from_numpy(y))
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    tolerance = tolerances.gemm_f16(np.matmul(np.abs(wide_x), np.abs(wide_y)), a[-1])
    assert_matches(
        result.numpy(), np.matmul(wide_x, wide_y), dtype=np.float16, **tolerance._asdict()
    )


def test_a_product_of_halves_onto_its_operand(executor: Any) -> None:
    x = random_array(1, 5, 5, dtype=np.float16)
    array = executor.from_numpy(x)
    wide = x.astype(np.float64)
    tolerance = tolerances.gemm_f16(np.abs(wide) @ np.abs(wide), 5)
    assert executor.matmul(array, array, array) is array
    assert_matches(array.numpy(), wide @ wide, dtype=np.float16, **tolerance._asdict())


@pytest.mark.parametrize("flip_b", [False, True])
@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize(
    ("a", "b"), [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5))]
)
def test_transposed_operands(
    executor: Any, a: tuple[int, ...], b: tuple[int, ...], flip_a: bool, flip_b: bool
) -> None:
    x, y = random_array(1, *a), random_array(2, *b)
    given_x = np.swapaxes(x, -1, -2).copy() if flip_a else x
    given_y = np.swapaxes(y, -1, -2).copy() if flip_b else y
    result = executor.matmul(
        executor.from_numpy(given_x), executor.from_numpy(given_y),
        transpose_a=flip_a, transpose_b=flip_b,
    )  # fmt: skip
    check_product(result, x, y)


def test_batched_matmul(executor: Any) -> None:
    for lead in ((3,), (2, 3), (1,), (0,)):
        x, y = random_array(1, *lead, 5, 7), random_array(2, *lead, 7, 6)
        check_product(executor.batched_matmul(executor.from_numpy(x), executor.from_numpy(y)), x, y)


def linear_reference(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    activation: str | None,
    residual: np.ndarray | None,
) -> tuple[np.ndarray, tolerances.Tolerance]:
    """Return linear's result in float64, and the error allowed in float32."""
    wide = [None if y is None else y.astype(np.float64) for y in (x, w, bias, residual)]
    x, w, bias, residual = wide  # type: ignore[assignment]
    value = np.matmul(x, w) + (0.0 if bias is None else bias)
    size = np.matmul(np.abs(x), np.abs(w)) + (0.0 if bias is None else np.abs(bias))
    atol = 1.2 * tolerances.gemm(size, x.shape[-1]).atol  # no activation is steeper than 1.13
    if activation is not None:
        own = tolerances.unary(activation, value)
        value = reference.unary(activation, value)
        atol = atol + own.atol + own.rtol * np.abs(value)
    if residual is not None:
        value = value + residual
        atol = atol + tolerances.ULP * np.abs(value)
    return value, tolerances.Tolerance(0.0, atol, "a product, its activation, two sums")


ACTIVATIONS: tuple[Any, ...] = (None, "relu", "gelu", "silu", "gelu_erf")


def activation_in_turn(place: int) -> str | None:
    """Return one activation per variant, because each variant compiles several kernels."""
    name: str | None = ACTIVATIONS[place % len(ACTIVATIONS)]
    return name


def activations(place: int) -> tuple[None, str]:
    """Return None and another activation for each variant.

    Each pair is a separate kernel, which takes SwiftShader seconds to compile.
    """
    return None, ACTIVATIONS[1:][place % 4]


GEMM = [v.name for v in VARIANTS["gemm"]]
ACTIVATED = [(variant, a) for place, variant in enumerate(GEMM) for a in activations(place)]


@pytest.mark.parametrize(("variant", "activation"), ACTIVATED)
def test_linear(executor: Any, variant: str, activation: str | None) -> None:
    shapes = [((2, 3), 5, 7), ((3,), 70, 5), ((), 9, 40), ((41,), 33, 3), ((2, 1), 1100, 6)]
    for lead, k, n in shapes:
        x, w = random_array(1, *lead, k), random_array(2, k, n)
        bias, residual = random_array(3, n), random_array(4, *lead, n)
        for added in ((None, None), (bias, None), (bias, residual), (None, residual)):
            arrays = [None if y is None else executor.from_numpy(y) for y in (x, w, *added)]
            with only_variant(executor.device, "gemm", variant):
                result = executor.linear(*arrays[:3], activation=activation, residual=arrays[3])
            value, tolerance = linear_reference(x, w, added[0], activation, added[1])
            assert_matches(result.numpy(), value, **tolerance._asdict())


def test_linear_of_special_values(executor: Any) -> None:
    x = np.array([[np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0], [200.0, 0.0], [-200.0, 0.0]])
    w = np.ones((2, 6), np.float32)
    wide = executor.from_numpy(np.repeat(x, 3, axis=0).astype(np.float32))
    for activation in ACTIVATIONS[1:]:
        result = executor.linear(wide, executor.from_numpy(w), activation=activation)
        sums = np.repeat(x.sum(axis=1), 3)[:, None] * np.ones(6)
        assert_matches(
            result.numpy(), reference.unary(activation, sums),
            **tolerances.unary(activation, sums)._asdict(),
        )  # fmt: skip


def test_linear_of_float16_and_onto_an_operand(executor: Any) -> None:
    x, w = random_array(1, 6, 6, dtype=np.float16), random_array(2, 6, 6, dtype=np.float16)
    value, tolerance = linear_reference(x, w, None, "silu", x)
    result = executor.linear(
        executor.from_numpy(x), executor.from_numpy(w), activation="silu",
        residual=executor.from_numpy(x),
    )  # fmt: skip
    assert result.dtype == "f16"
    assert_matches(
        result.numpy(), value, dtype=np.float16, rtol=1.01 * tolerances.F16_U,
        atol=tolerance.atol + 2.0**-24, why="float32, then one rounding to float16",
    )  # fmt: skip
    array = executor.from_numpy(x.astype(np.float32))
    value, tolerance = linear_reference(x, x, None, None, x)
    executor.linear(array, array, residual=array, out=array)
    assert_matches(array.numpy(), value, **tolerance._asdict())


def test_linear_of_halves_casts_nothing(executor: Any) -> None:
    """For every addition, and in each variant."""
    variants = executor.device.variants
    shapes = [((2, 3), 8, 16), ((3,), 70, 5), ((), 9, 40), ((41,), 33, 3), ((150,), 170, 165)]
    for i, variant in enumerate(variants.available("gemm_f16")):
        lead, k, n = shapes[i % len(shapes)]
        x, w = random_array(1, *lead, k, dtype="f2"), random_array(2, k, n, dtype="f2")
        bias, residual = random_array(3, n, dtype="f2"), random_array(4, *lead, n, dtype="f2")
        activation = activation_in_turn(i)
        for added in ((None, None), (bias, None), (bias, residual), (None, residual)):
            arrays = [None if y is None else executor.from_numpy(y) for y in (x, w, *added)]
            value, tolerance = linear_reference(x, w, added[0], activation, added[1])
            with (
                variants.only("gemm_f16", variant.name),
                dispatched(executor.device) as kernels,
            ):
                result = executor.linear(*arrays[:3], activation=activation, residual=arrays[3])
            assert all(kernel.startswith(("gemm_f16", "repitch")) for kernel in kernels)
            assert result.dtype == "f16"
            check_floats(result, value, tolerance)


@pytest.mark.parametrize(("place", "variant"), list(enumerate(GEMM)))
def test_linear_of_float32_reads_weights_of_float16(
    executor: Any, place: int, variant: str
) -> None:
    shapes = [((2, 3), 5, 7), ((3,), 70, 8), ((), 9, 40), ((41,), 33, 3), ((2, 1), 1100, 6)]
    kinds = ("f4 f2 f4 f4", "f4 f2 f2 f2", "f2 f4 f2 f4", "f2 f2 f4 f2", "f2 f2 f2 f4")
    activation = activation_in_turn(place)
    for i, types in enumerate(kinds, place):
        lead, k, n = shapes[i % len(shapes)]
        codes = types.split()
        x, w = random_array(1, *lead, k, dtype=codes[0]), random_array(2, k, n, dtype=codes[1])
        bias = random_array(3, n, dtype=codes[2])
        residual = random_array(4, *lead, n, dtype=codes[3])
        arrays = [executor.from_numpy(y) for y in (x, w, bias, residual)]
        casts = codes.count("f2") if codes[1] == "f4" else 0
        if codes[:2] == ["f2", "f2"] and activation is not None:
            casts = 1  # casts x, not the weights
        with (
            only_variant(executor.device, "gemm", variant),
            dispatched(executor.device) as kernels,
        ):
            result = executor.linear(*arrays[:3], activation=activation, residual=arrays[3])
        assert kernels.count("cast") == casts
        assert set(kernels) <= {"gemm", "gemm_thin", "gemm_tiny", "gemm_sum", "cast"}
        assert result.dtype == "f32"
        value, tolerance = linear_reference(x, w, bias, activation, residual)
        check_floats(result, value, tolerance)


def test_linear_onto_its_residual(executor: Any) -> None:
    """No copy is made: the product is added to the residual in place."""
    x, w = random_array(1, 7, 9, dtype="f2"), random_array(2, 9, 5, dtype="f2")
    stream = random_array(3, 7, 5, dtype="f2")
    arrays = [executor.from_numpy(y) for y in (x, w, stream)]
    before = executor.device.recorder.counters["copies"]
    executor.linear(*arrays[:2], residual=arrays[2], out=arrays[2])
    assert executor.device.recorder.counters["copies"] == before
    check_floats(arrays[2], *linear_reference(x, w, None, None, stream))


@pytest.mark.parametrize("types", ["f2 f2 f4", "f4 f2 f4", "f2 f4 f4", "f2 f4 f2"])
def test_products_read_halves_as_they_are(executor: Any, types: str) -> None:
    first, second, out = types.split()
    for flip_a, flip_b, a, b in (
        (False, False, (5, 7), (7, 3)), (True, False, (7, 5), (7, 3)),
        (False, True, (5, 7), (3, 7)), (False, False, (4, 5, 7), (4, 7, 40)),
        (False, True, (2, 33, 7), (2, 35, 7)),
    ):  # fmt: skip
        x, y = random_array(1, *a, dtype=first), random_array(2, *b, dtype=second)
        wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
        wide_x = np.swapaxes(wide_x, -1, -2) if flip_a else wide_x
        wide_y = np.swapaxes(wide_y, -1, -2) if flip_b else wide_y
        expected = wide_x @ wide_y
        result = executor.from_numpy(np.zeros(expected.shape, out))
        with dispatched(executor.device) as kernels:
            executor.matmul(
                executor.from_numpy(x), executor.from_numpy(y), result,
                transpose_a=flip_a, transpose_b=flip_b,
            )  # fmt: skip
        # Casts the result, and a if b is float32.
        assert kernels.count("cast") == (out == "f2") + (types[:5] == "f2 f4")
        magnitude = np.abs(wide_x) @ np.abs(wide_y)
        check_floats(result, expected, tolerances.gemm(magnitude, wide_x.shape[-1]))


def test_linear_of_nothing(executor: Any) -> None:
    assert executor.linear(executor.empty((0, 4)), executor.empty((4, 5))).shape == (0, 5)
    bias = executor.from_numpy(np.array([-1.0, 2.0], np.float32))
    result = executor.linear(
        executor.empty((3, 0)), executor.empty((0, 2)), bias, activation="relu"
    )
    assert_same_bits(result.numpy(), np.array([[0.0, 2.0]] * 3, np.float32), "relu of the bias")


def test_a_product_onto_its_operand(executor: Any) -> None:
    x = random_array(1, 6, 6)
    array = executor.from_numpy(x)
    check_product(executor.matmul(array, array, array), x, x)


def test_products_that_are_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    def array(*shape: int) -> Any:
        return executor.empty(shape)

    for call, words in (
        (lambda: executor.matmul(array(2, 3), array(2, 3)), "matmul: b must .*3 rows"),
        (lambda: executor.matmul(array(), array(3)), "matmul: a must .*an axis"),
        (lambda: executor.matmul(array(2, 2, 3), array(3, 3, 4)), "matmul: b must .*broadcasts"),
        (lambda: executor.matmul(array(2, 3), array(3, 4), array(2, 3)), r"out must .*\(2, 4\)"),
        (
            lambda: executor.matmul(array(2, 3), array(3, 4), transpose_a=1),
            "transpose_a must .*, got 1",
        ),
        (lambda: executor.linear(array(2, 3), array(4, 5)), r"linear: w must .*\(3, N\)"),
        (lambda: executor.linear(array(2, 3), array(3, 5), array(3)), r"bias must .*\(5,\)"),
        (lambda: executor.linear(array(3), array(3, 5), residual=array(1, 5)), "residual must"),
        (lambda: executor.linear(array(3), array(3, 5), activation="tanh"), "'relu', 'gelu'"),
        (lambda: executor.linear(array(), array(3, 5)), "x must .*an axis"),
        (lambda: executor.linear(array(3), array(3, 5), out=array(4)), r"out must .*\(5,\)"),
        (lambda: executor.batched_matmul(array(2, 3), array(3, 4)), "a must .*at least 3 axes"),
        (lambda: executor.batched_matmul(array(2, 2, 3), array(3, 4)), r"b must .*\(2,\)"),
        (lambda: executor.batched_matmul(array(2, 2, 3), array(2, 4, 3)), "b must .*3 rows"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            call()
