"""unary and binary against float64, with NumPy's NaN and infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, on_gpu, random_array, whole_array
from inside.reference import BINARY_OPS, UNARY_OPS

pytestmark = [pytest.mark.native, pytest.mark.firefox]

LENGTHS = [1, 2, 3, 4, 5, 7, 255, 256, 257, 1021, 1024, 1025, 4099]

# Operands for every binary op: zeros, integers and fractions of both signs, large and small
# numbers, infinities and NaN.
SPECIALS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e30, -1e30, 1e-30, -1e-30,
     16777217.0, -16777217.0, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip


def run_unary(backend: Any, op: str, x: np.ndarray) -> np.ndarray:
    with on_gpu(backend) as gpu:
        x_ptr, y_ptr = gpu.upload(x), gpu.filled(x.size)
        backend.unary(op, x_ptr, y_ptr, x.size)
        return gpu.download(y_ptr, x.shape)


def run_binary(backend: Any, op: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with on_gpu(backend) as gpu:
        a_ptr, b_ptr, y_ptr = gpu.upload(a), gpu.upload(b), gpu.filled(a.size)
        backend.binary(op, a_ptr, b_ptr, y_ptr, a.size)
        return gpu.download(y_ptr, a.shape)


def check_unary(backend: Any, op: str, x: np.ndarray) -> None:
    tolerance = tolerances.unary(op, x)
    assert_matches(run_unary(backend, op, x), reference.unary(op, x), **tolerance._asdict())


def check_binary(backend: Any, op: str, a: np.ndarray, b: np.ndarray) -> None:
    tolerance = tolerances.binary(op, a, b)
    assert_matches(run_binary(backend, op, a, b), reference.binary(op, a, b), **tolerance._asdict())


def unary_data(op: str, seed: int, n: int) -> np.ndarray:
    x = random_array(seed, n) * np.float32(3.0)
    return np.abs(x) if op in ("log", "sqrt") else x


def binary_data(op: str, seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = random_array(seed, n), random_array(seed + 1, n) * np.float32(2.5)
    return (np.abs(a) * np.float32(4.0), b) if op == "pow" else (a, b)


# ---- unary --------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", UNARY_OPS)
def test_unary_lengths(backend: Any, op: str) -> None:
    for n in LENGTHS:
        check_unary(backend, op, unary_data(op, n, n))


@pytest.mark.fast
@pytest.mark.parametrize("op", UNARY_OPS)
def test_unary_over_its_range(backend: Any, op: str) -> None:
    magnitudes = np.geomspace(1e-30, 1e30, 601)
    moderate = np.linspace(-100.0, 100.0, 4001)
    near_one = 1.0 + np.geomspace(1e-7, 0.5, 200)
    parts = [magnitudes, -magnitudes, moderate, near_one, 2.0 - near_one]
    check_unary(backend, op, np.concatenate(parts).astype(np.float32))


@pytest.mark.parametrize(
    ("op", "ulps"), [("exp", 3), ("sigmoid", 6), ("tanh", 8), ("silu", 10), ("gelu_erf", 14)]
)
def test_exponentials_keep_their_digits_at_their_ends(backend: Any, op: str, ulps: int) -> None:
    # exp2(x log2 e), WGSL's definition of exp, has an error of 2 |x| ULP: 1e-5 at both ends.
    x = np.linspace(-104.0, 104.0, 20_001).astype(np.float32)
    result, expected = run_unary(backend, op, x), reference.unary(op, x)
    assert_matches(
        result, expected, rtol=ulps * tolerances.ULP, atol=tolerances.SUBNORMAL, why="own exp"
    )


@pytest.mark.fast
@pytest.mark.parametrize("op", UNARY_OPS)
def test_unary_specials(backend: Any, op: str) -> None:
    largest = np.finfo(np.float32).max
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, largest, -largest], np.float32)
    check_unary(backend, op, x)


@pytest.mark.parametrize("op", ["abs", "neg", "sqrt", "relu"])
def test_unary_sign_of_zero(backend: Any, op: str) -> None:
    x = np.array([0.0, -0.0], np.float32)
    expected = {"abs": [0, 0], "neg": [1, 0], "sqrt": [0, 1], "relu": [0, None]}[op]
    for sign, want in zip(np.signbit(run_unary(backend, op, x)), expected, strict=True):
        # np.maximum(-0.0, 0.0) may return either zero.
        assert want is None or bool(sign) == bool(want)


@pytest.mark.parametrize("op", UNARY_OPS)
def test_unary_in_place(backend: Any, op: str) -> None:
    for n in (1, 6, 1025):
        x = unary_data(op, n, n)
        with on_gpu(backend) as gpu:
            ptr = gpu.upload(x)
            backend.unary(op, ptr, ptr, n)
            result = gpu.download(ptr, n)
        tolerance = tolerances.unary(op, x)
        assert_matches(result, reference.unary(op, x), **tolerance._asdict())


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 258])
def test_unary_does_not_write_after_the_result(backend: Any, n: int, in_place: bool) -> None:
    x = random_array(1, 300)
    with on_gpu(backend) as gpu:
        x_ptr = gpu.upload(x)
        y_ptr = x_ptr if in_place else gpu.filled(300, SENTINEL)
        backend.unary("neg", x_ptr, y_ptr, n)
        result = gpu.download(y_ptr, 300)
    rest = x[n:] if in_place else np.full(300 - n, SENTINEL, np.float32)
    assert_same_bits(result[:n], -x[:n], "the first n")
    assert_same_bits(result[n:], rest, "elements from n on")


@pytest.mark.parametrize("n", [65_535 * 256 + 5, 65_535 * 1024 + 1027])
def test_unary_past_one_grid_dimension(backend: Any, n: int) -> None:
    # One thread per element or per vec4: both exceed 65,535 workgroups of 256.
    pattern = whole_array(1, 1031)
    if 4 * n > backend.device.largest_buffer:
        pytest.skip("the GPU has no buffer of that size")
    x = np.resize(pattern, n)
    with on_gpu(backend) as gpu:
        ptr = gpu.upload(x)
        backend.unary("neg", ptr, ptr, n)
        backend.copy_dtoh(x, ptr)
    step = pattern.size * 1000
    negated = np.resize(-pattern, step)
    for start in range(0, n, step):
        part = x[start : start + step]
        assert_same_bits(part, negated[: part.size], f"elements from {start}")


@given(data=st.data())
def test_unary_of_any_floats(backend: Any, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(UNARY_OPS))
    floats = st.floats(width=32, allow_subnormal=False)
    values = data.draw(st.lists(floats, min_size=1, max_size=40))
    check_unary(backend, op, np.array(values, np.float32))


# ---- binary -------------------------------------------------------------------------------------


@pytest.mark.fast
@pytest.mark.parametrize("op", BINARY_OPS)
def test_binary_lengths(backend: Any, op: str) -> None:
    for n in LENGTHS:
        check_binary(backend, op, *binary_data(op, n, n))


@pytest.mark.fast
@pytest.mark.parametrize("op", BINARY_OPS)
def test_binary_special_pairs(backend: Any, op: str) -> None:
    a, b = (x.ravel().copy() for x in np.meshgrid(SPECIALS, SPECIALS))
    check_binary(backend, op, a, b)


def test_pow_of_special_values_has_numpys_signs(backend: Any) -> None:
    a, b = (x.ravel().copy() for x in np.meshgrid(SPECIALS, SPECIALS))
    result = run_binary(backend, "pow", a, b)
    with np.errstate(all="ignore"):
        expected = np.power(a, b)
    numbers = ~np.isnan(expected)
    wrong = numbers & (np.signbit(result) != np.signbit(expected))
    assert not wrong.any(), [
        (x, y, got, want)
        for x, y, got, want in zip(a[wrong], b[wrong], result[wrong], expected[wrong], strict=True)
    ]


def test_pow_with_integer_exponents(backend: Any) -> None:
    bases = np.array([-3.0, -1.5, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0, 10.0], np.float32)
    exponents = np.arange(-20, 21).astype(np.float32)
    a, b = (x.ravel().copy() for x in np.meshgrid(bases, exponents))
    check_binary(backend, "pow", a, b)


# Reported by a user: each result was wrong by far more than a unit in the last place.
FOUND = [
    (0.049177114, -29.0), (-0.2234683, -59.0), (0.9995, 10000.5), (0.9999999, 16777215.0),
    (1.0000001, 7e8), (3e38, 1.0), (1.2e-38, 1.0), (1.2e-38, -1.0), (1.5, 218.0), (1.5, -215.0),
]  # fmt: skip


def powers(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return bases and exponents whose powers cover float32's range."""
    generator = np.random.default_rng(1)
    n = 20_000
    if kind == "found":
        a, b = (np.array(values, np.float32) for values in zip(*FOUND, strict=True))
        return a, b
    if kind == "whole":
        a = generator.uniform(-100.0, 100.0, n).astype(np.float32)
        return a, generator.integers(-70, 71, n).astype(np.float32)
    if kind == "any":
        a = np.exp2(generator.uniform(-126.0, 128.0, n))
    else:
        a = 1.0 + generator.choice([-1.0, 1.0], n) * np.exp2(generator.uniform(-23.0, -1.0, n))
    a = a.astype(np.float32)
    a[a == 1.0] = 1.5
    return a, (generator.uniform(-127.0, 128.0, n) / np.log2(a.astype(np.float64))).astype(
        np.float32
    )


@pytest.mark.parametrize("kind", ["found", "whole", "any", "near one"])
def test_pow_is_as_near_as_numpys_float32(backend: Any, kind: str) -> None:
    a, b = powers(kind)
    check_binary(backend, "pow", a, b)
    with np.errstate(all="ignore"):
        exact = np.power(a.astype(np.float64), b.astype(np.float64))
        numpys = np.power(a, b).astype(np.float64)
    # Overflows are compared above; NumPy's subnormal numbers are flushed to zero here.
    inside = (np.abs(exact) < np.finfo(np.float32).max) & (np.abs(exact) > tolerances.SUBNORMAL)
    result = run_binary(backend, "pow", a, b).astype(np.float64)
    ours, theirs = (np.abs(x - exact)[inside] / np.abs(exact)[inside] for x in (result, numpys))
    assert ours.max() <= theirs.max() + tolerances.ULP


def test_powers_that_are_float32_are_exact(backend: Any) -> None:
    bases = np.arange(1, 300, dtype=np.int64)
    pairs = [(b, k) for b in bases for k in range(25) if int(b) ** k < 2**24]
    a, b = (np.array(values, np.float32) for values in zip(*pairs, strict=True))
    exact = np.array([int(base) ** k for base, k in pairs], np.float32)
    assert_same_bits(run_binary(backend, "pow", a, b), exact, "whole powers of whole numbers")
    squares = np.arange(1, 4097, dtype=np.float32) ** 2
    halves = np.full(squares.size, 0.5, np.float32)
    assert_same_bits(run_binary(backend, "pow", squares, halves), np.sqrt(squares), "roots")
    exponents = np.arange(-126, 128, dtype=np.float32)
    twos = np.full(exponents.size, 2.0, np.float32)
    powers_of_two = np.exp2(exponents.astype(np.float64)).astype(np.float32)
    assert_same_bits(run_binary(backend, "pow", twos, exponents), powers_of_two, "powers of two")


@pytest.mark.parametrize("op", BINARY_OPS)
def test_subnormal_numbers_may_be_flushed_to_zero(backend: Any, op: str) -> None:
    # WasmBackend documents this. The device may flush each operand and the result, or not.
    a = np.array([1e-40, -1e-40, 1e-38, 2e-38, 1.0, 3.0], np.float32)
    b = np.array([1.0, 2.0, 1e-39, 1.9e-38, 1e-40, 0.5], np.float32)
    flushed_a, flushed_b = (np.where(np.abs(x) < tolerances.SUBNORMAL, 0, x) for x in (a, b))
    got = run_binary(backend, op, a, b).astype(np.float64)
    possible = []
    for x, y in ((a, b), (flushed_a, b), (a, flushed_b), (flushed_a, flushed_b)):
        exact = reference.binary(op, x, y)
        with np.errstate(over="ignore"):
            possible.append(exact.astype(np.float32).astype(np.float64))
    slack = 4 * tolerances.ULP
    with np.errstate(invalid="ignore"):
        near = [
            (got == p)
            | (np.isnan(got) & np.isnan(p))
            | (np.abs(got - p) <= slack * np.abs(p) + tolerances.SUBNORMAL)
            for p in possible
        ]
    assert np.any(near, axis=0).all(), (op, got, possible)


@pytest.mark.parametrize("same", ["a", "b", "both", "operands"])
@pytest.mark.parametrize("op", BINARY_OPS)
def test_binary_in_place(backend: Any, op: str, same: str) -> None:
    for n in (1, 6, 1025):
        a, b = binary_data(op, n, n)
        if same in ("both", "operands"):
            b = a
        with on_gpu(backend) as gpu:
            a_ptr = gpu.upload(a)
            b_ptr = a_ptr if b is a else gpu.upload(b)
            y_ptr = {"a": a_ptr, "b": b_ptr, "both": a_ptr, "operands": gpu.filled(n)}[same]
            backend.binary(op, a_ptr, b_ptr, y_ptr, n)
            result = gpu.download(y_ptr, n)
            if same == "a":
                assert_same_bits(gpu.download(b_ptr, n), b, "b")
        tolerance = tolerances.binary(op, a, b)
        assert_matches(result, reference.binary(op, a, b), **tolerance._asdict())


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 258])
def test_binary_does_not_write_after_the_result(backend: Any, n: int) -> None:
    a, b = random_array(1, 300), random_array(2, 300)
    with on_gpu(backend) as gpu:
        y_ptr = gpu.filled(300, SENTINEL)
        backend.binary("add", gpu.upload(a), gpu.upload(b), y_ptr, n)
        result = gpu.download(y_ptr, 300)
    assert_same_bits(result[:n], a[:n] + b[:n], "the first n")
    assert_same_bits(result[n:], np.full(300 - n, SENTINEL, np.float32), "elements from n on")


def test_binary_past_one_grid_dimension(backend: Any) -> None:
    n = 65_535 * 256 + 5
    pattern = whole_array(1, 1031)
    x = np.resize(pattern, n)
    with on_gpu(backend) as gpu:
        ptr = gpu.upload(x)
        backend.binary("add", ptr, ptr, ptr, n)
        backend.copy_dtoh(x, ptr)
    assert_same_bits(x, np.resize(pattern + pattern, n), "x + x")


@given(data=st.data())
def test_binary_of_any_floats(backend: Any, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(BINARY_OPS))
    # WGSL guarantees the accuracy of division only for divisors within 2^±126.
    floats = st.floats(width=32, allow_subnormal=False, min_value=-(2.0**120), max_value=2.0**120)
    special = st.sampled_from([float(x) for x in SPECIALS])
    pairs = data.draw(st.lists(st.tuples(floats | special, floats | special), min_size=1))
    a, b = (np.array(values, np.float32) for values in zip(*pairs, strict=True))
    check_binary(backend, op, a, b)


def test_op_enums_are_the_strings(backend: Any) -> None:
    from browsergpu import BinaryOp, ReduceOp, UnaryOp

    assert {op.value for op in UnaryOp} == set(UNARY_OPS)
    assert {op.value for op in BinaryOp} == set(BINARY_OPS)
    assert {op.value for op in ReduceOp} == set(reference.REDUCE_OPS)
    x = np.array([-1.0, 2.0], np.float32)
    assert_same_bits(run_unary(backend, UnaryOp("relu"), x), np.maximum(x, 0), "relu")
    assert_same_bits(run_binary(backend, BinaryOp("max"), x, -x), np.abs(x), "max")
