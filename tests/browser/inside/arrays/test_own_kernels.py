"""Custom kernels on arrays, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = pytest.mark.firefox

X, Y = sample("float32", (5, 4)), sample("float32", (5, 1), 1)


def test_of_each_element(bg: Any) -> None:
    distance = bg.ElementwiseKernel(
        "T x, T y, float32 scale", "T z", "let d = T(scale) * (x - y);\nz = abs(d)", "distance"
    )
    a, b = bg.asarray(X), bg.asarray(Y)
    got = distance(a.T[1:] + 1, b[:, 0], 2.0)
    assert_same(got, 2 * np.abs(X.T[1:] + 1 - Y[:, 0]), rtol=1e-6)
    assert "distance" in bg.explain(distance(a, b, 0.5) * 2)
    whole = np.arange(-3, 3, dtype=np.int32)
    assert_same(distance(bg.asarray(whole), 1, 3), 3 * np.abs(whole - 1))
    for args, error in (
        ((a, b), "2 arguments"), ((a, bg.asarray(whole), 1.0), "y must"), ((X, b, 1.0), "x must"),
        ((a, b, 1j), "scale"), ((1.0, 2.0, 3.0), "at least one array"),
        ((bg.asarray(whole), 1.5, 1.0), "y must"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=error):
            distance(*args)


def test_of_many_types_and_outputs(bg: Any) -> None:
    made = bg.ElementwiseKernel(
        "complex64 z, float16 h, uint8 n, bool on", "complex64 w, uint8 m, bool even, float32 at",
        """
        w = vec2f(-z.y, z.x) * h;   // i z h
        m = n + 250u;
        even = on && i % 2u == 0u;
        at = f32(i);
        """,
        "many",
    )  # fmt: skip
    z, h = sample("complex64", 7), sample("float16", 7)
    n, on = sample("uint8", 7), sample("bool", 7)
    found = made(*map(bg.asarray, (z, h, n, on)))
    at = np.arange(7)
    expected = (1j * z * h, n + np.uint8(250), on & (at % 2 == 0), at.astype("f4"))
    for got, one in zip(found, expected, strict=True):
        assert_same(got, one, rtol=1e-6 if one.dtype.kind in "fc" else 0.0)


def test_kernels_by_a_decorator(bg: Any) -> None:
    @bg.kernel
    def axpy(a: float32, x: T, y: T) -> T:  # noqa: F821
        """a x + y"""
        return "T(a) * x + y"

    @bg.kernel
    def both(x: np.float32, y: bg.float32) -> (float32, bool):  # noqa: F821
        return f"min({x}, {y})", "x < y"

    a, b = bg.asarray(X), bg.asarray(Y)
    assert (axpy.name, axpy.__doc__, repr(axpy)) == (
        "axpy", "a x + y", "<ElementwiseKernel axpy>",
    )  # fmt: skip
    assert_same(axpy(2, a, b), 2 * X + Y, rtol=1e-6)
    least, less = both(a, b)
    assert_same(least, np.minimum(X, Y))
    assert_same(less, X < Y)
    with pytest.raises(TypeError, match="annotations"):
        bg.kernel(lambda x: "x")


def test_reductions(bg: Any) -> None:
    norm = bg.ReductionKernel("T x, T y", "T z", "x * x + y", "a + b", "z = sqrt(a)", "0", "norm")
    a, b = bg.asarray(X), bg.asarray(np.abs(Y))
    terms = X * X + np.abs(Y)
    assert_same(norm(a, b), np.sqrt(terms.sum()), rtol=1e-5)
    assert_same(norm(a, b, axis=0, keepdims=True), np.sqrt(terms.sum(0, keepdims=True)), rtol=1e-5)
    assert_same(norm(bg.zeros((0, 3)), 1.0, axis=0), np.zeros(3))
    bits = bg.ReductionKernel(
        "int32 x", "uint32 ones, bool odd", "1u << u32(x)", "a | b",
        "ones = countOneBits(a); odd = ones % 2u == 1u", None, "bits", reduce_type="uint32",
    )  # fmt: skip
    ones, odd = bits(bg.asarray(np.int32([3, 3, 5, 31, 0])))
    assert (int(ones), bool(odd)) == (4, False)
    with pytest.raises(ValueError, match="elements to reduce"):
        bits(bg.asarray(np.zeros(0, np.int32)))


FILL = """
struct Numbers { first: f32, step: i32, last: u32 }
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(0) var<uniform> numbers: Numbers;
@compute @workgroup_size(4) fn fill(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x) && id.x != numbers.last) {
    y[id.x] += x[id.x] + numbers.first + f32(numbers.step * i32(id.x));
  }
}
@compute @workgroup_size(1) fn other() { y[0] = x[0]; }
"""


def test_raw_kernels(bg: Any) -> None:
    fill = bg.RawKernel(FILL, "fill")
    x, y = bg.asarray(X), bg.ones(7)
    before, view = y.copy(), y[:]
    fill(2, x[1:3, 1:4].reshape(-1), y, 0.5, -2, np.uint32(3))
    expected = 1 + X[1:3, 1:4].reshape(-1) + 0.5 - 2 * np.arange(6)
    expected[3] = 1.0
    assert_same(y, [*expected.astype("f4"), 1.0], rtol=1e-6)
    assert_same(before, np.ones(7))
    assert_same(view, y.numpy())
    again = y
    kept = y + 0
    fill((1, 1), bg.ones(2), y, 0, 0, 9)
    assert again is y
    assert_same(y - kept, np.float32([1, 1, 0, 0, 0, 0, 0]), rtol=1e-5)
    bg.RawKernel(FILL.encode(), "other")(1, x, y, 0.0)
    assert_same(y[:1], X[0, :1])
    one = bg.ones(3)
    fill(1, one, one, 0.0, 0, 9)
    assert_same(one, [2.0, 2.0, 2.0])
    for call, error in (
        (lambda: fill(1, x), ValueError), (lambda: fill(0, x, y), ValueError),
        (lambda: fill(1, x, y, "text"), TypeError), (lambda: fill(1, x, y, 2**31), ValueError),
        (lambda: bg.RawKernel(FILL), ValueError), (lambda: bg.RawKernel("fn f() {}"), ValueError),
        (lambda: bg.RawKernel(3), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()


@pytest.mark.provokes_errors
def test_compilation_errors_name_the_line(bg: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    wrong = bg.ElementwiseKernel("T x", "T y", "let a = x;\ny = a + nothing;", "wrong")
    with pytest.raises(ShaderCompilation) as caught:
        (wrong(bg.ones(3)) + 1).numpy()
    assert (caught.value.file, caught.value.line, caught.value.column) == ("wrong", 2, 9)


BROKEN = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(8) fn broken() { y[0] = unknown_here; }
"""


def in_a_file(name: str, code: str, **names: Any) -> None:
    """Run code whose tracebacks show the given file name."""
    exec(compile(code, name, "exec"), {"__name__": "__main__", **names})


@pytest.mark.provokes_errors
def test_compilation_errors_name_the_recording_line(bg: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    def told(x: Any) -> str:
        with pytest.raises(ShaderCompilation) as caught:
            x.numpy()
        assert f"(first recorded in {caught.value.recorded})" in str(caught.value)
        return caught.value.recorded

    raw, x = bg.RawKernel(BROKEN), bg.ones(3)
    in_a_file("Cell 3", "\nraw(1, x)", raw=raw, x=x)
    in_a_file("Cell 4", "raw(1, x)", raw=raw, x=x)
    assert told(x) == "Cell 3, line 2"
    in_a_file("Cell 5", "raw(1, x)", raw=raw, x=x)  # again, as a user retries
    assert told(x) == "Cell 5, line 1"
    # An elementwise kernel is compiled when its values are needed.
    wrong = bg.ElementwiseKernel("T x", "T y", "y = x + unknown_there", "wrong_there")
    names = {"wrong": wrong, "x": x}
    in_a_file("Cell 6", "y = wrong(x)", **names)
    assert told(wrong(x) + 1) == "Cell 6, line 1"


def test_declarations_that_are_refused(bg: Any) -> None:
    for ins, outs, body, name in (
        ("x", "T y", "y = x", "k"), ("T x", "U y", "y = x", "k"), ("T x", "T x", "x = x", "k"),
        ("T i", "T y", "y = i", "k"), ("T x", "T y", "", "k"), ("T x", "T y", "y = x", "a b"),
        ("text x", "T y", "y = x", "k"), ("T x", "", "y = x", "k"), ("T T", "T y", "y = x", "k"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="Kernel"):
            bg.ElementwiseKernel(ins, outs, body, name)
    with pytest.raises(TypeError, match="identity"):
        bg.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "none")
