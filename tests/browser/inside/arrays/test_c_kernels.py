"""Custom kernels written in C, with CuPy's signatures, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X, Y = sample("float32", (5, 4)), sample("float32", (5, 1), 1)
ROW = np.arange(10, dtype=np.float32)


def test_black_and_scholes(bg: Any) -> None:
    """A preamble of C functions with a type letter, and constants."""
    price = bg.ElementwiseKernel(
        "T s, T k, T t, T r, T v", "T call, T put",
        """
        const T spread = v * sqrt(t);
        const T first = (log(s / k) + (r + v * v / 2) * t) / spread;
        T second = first - spread;  // of the strike
        const T left = k * expf(-r * t);
        call = s * share(first) - left * share(second);
        put = left * (1 - share(second)) - s * (1 - share(first));
        """,
        "black_scholes",
        preamble="""
        const float ROOT = 0.70710678f;
        __device__ inline T share(T x) { return normcdf(x * ROOT / ROOT); }
        """,
    )  # fmt: skip
    s, k = np.linspace(5, 30, 50, dtype=np.float32), np.linspace(1, 60, 50, dtype=np.float32)
    t = np.linspace(0.25, 10, 50, dtype=np.float32)
    call, put = price(*map(bg.asarray, (s, k, t)), 0.02, 0.3)
    share = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
    first = (np.log(s / k) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    second = first - 0.3 * np.sqrt(t)
    left = k * np.exp(-0.02 * t)
    expected = s * share(first) - left * share(second)
    np.testing.assert_allclose(call.numpy(), expected, atol=2e-5)
    np.testing.assert_allclose(put.numpy(), expected - s + left, atol=2e-5)


def test_k_means(bg: Any) -> None:
    """Reductions with a condition in the map, as in clustering."""
    distance = bg.ElementwiseKernel(
        "T x0, T x1, T c0, T c1", "T out", "out = (x0 - c0) * (x0 - c0) + (x1 - c1) * (x1 - c1)"
    )
    total = bg.ReductionKernel("T x, S mask", "T out", "mask ? x : 0", "a + b", "out = a", "0", "t")
    count = bg.ReductionKernel(
        "T mask", "float32 out", "mask ? 1.0 : 0.0", "a + b", "out = a", "0.0", "count"
    )
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(n, 0.3, (30, 2)) for n in (-2, 2)]).astype(np.float32)
    a = bg.asarray(x)
    centers = a[bg.asarray([0, 59])]
    for _ in range(3):
        away = distance(a[:, None, 0], a[:, None, 1], centers[None, :, 0], centers[None, :, 1])
        label = bg.argmin(away, axis=1)
        parts = []
        for n in range(2):
            mask = label == n
            parts.append(bg.stack([total(a[:, j], mask) / count(mask) for j in range(2)]))
        centers = bg.stack(parts)
    np.testing.assert_allclose(
        centers.numpy(), [x[:30].mean(0), x[30:].mean(0)], rtol=1e-5, atol=1e-5
    )


def test_arrays_that_are_indexed(bg: Any) -> None:
    turned = bg.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "turned")
    assert_same(turned(bg.asarray(ROW), bg.asarray(ROW * ROW)), ROW + (ROW * ROW)[::-1])
    assert_same(
        turned(bg.asarray(ROW[:3]), bg.asarray(np.arange(20, dtype=np.float32))[::2][:3]),
        ROW[:3] + np.float32([4, 2, 0]),
    )
    ring = bg.ElementwiseKernel(
        "raw T x, int32 n", "raw T y",
        """
        int left = i > 0 ? i - 1 : n - 1;
        int right = (i + 1) % n;
        T total = 0;
        for (int k = 0; k < 2; ++k)
            total += x[k ? left : right];
        y[i] = total / 2;
        """,
        "ring",
    )  # fmt: skip
    y = bg.zeros(10)
    view = y[:]
    assert ring(bg.asarray(ROW), 10, y, size=10) is y
    assert_same(view, (np.roll(ROW, 1) + np.roll(ROW, -1)) / 2)
    small = bg.ElementwiseKernel("int8 x, raw bool mask", "int8 y", "y = mask[i] ? x : -x", "small")
    whole, mask = np.arange(-4, 4, dtype=np.int8), np.arange(8) % 2 == 0
    assert_same(small(bg.asarray(whole), bg.asarray(mask)), np.where(mask, whole, -whole))
    marks = bg.ElementwiseKernel("raw T x, T least", "raw bool found", "found[i] = x[i] >= least")
    found = bg.zeros(10, dtype=bool)
    marks(bg.asarray(ROW), 4.0, found, size=10)
    assert_same(found, ROW >= 4)
    for call, error in (
        (lambda: ring(bg.asarray(ROW), 10, y), "size must"),
        (lambda: ring(bg.asarray(ROW), 10, size=10), "raw outputs|output"),
        (lambda: ring(ROW, 10, y, size=10), "x must"), (lambda: turned(1.0, 2.0), "y must"),
        (lambda: turned(bg.asarray(ROW), bg.asarray(ROW), size=4), "size must"),
        (lambda: turned(bg.asarray(ROW), bg.asarray(np.arange(3, dtype="int32"))), "y must"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=error):
            call()


def test_outputs_that_are_given(bg: Any) -> None:
    add = bg.ElementwiseKernel("T x", "T y", "y += x", "add")
    base = bg.ones((3, 8))
    view = base[:, ::2]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert add(bg.asarray(x), view) is view
    assert_same(view, x + 1)
    assert_same(base[:, 1::2], np.ones((3, 4)))
    numbers = bg.ElementwiseKernel("", "int32 y", "y = i * 2", "numbers")
    assert_same(numbers(size=5), 2 * np.arange(5, dtype=np.int32))
    of_output = bg.ElementwiseKernel("float32 x", "float32 y", "y = x * i", "places")
    assert_same(of_output(2.0, bg.zeros(4)), np.float32([0, 2, 4, 6]))
    with pytest.raises(ValueError, match="shape"):
        add(bg.asarray(x), bg.ones((4, 3)))
    with pytest.raises(TypeError, match="y must"):
        add(bg.asarray(x), bg.asarray(x.astype(np.int32)))
    norm = bg.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    out = bg.zeros(4)
    assert norm(bg.asarray(X), axis=0, out=out) is out
    assert_same(out, np.linalg.norm(X, axis=0), rtol=1e-6)


def test_statements(bg: Any) -> None:
    """Loops, branches, arrays and conversions with C semantics."""
    steps = bg.ElementwiseKernel(
        "int32 n", "int32 steps, float32 above",
        """
        int m = n; steps = 0;
        while (m != 1) {
            if (m % 2 == 0) m /= 2;
            else { m = 3 * m + 1; }
            steps++;
        }
        do { above += 0.5; } while (above < n);
        """,
        "collatz",
    )  # fmt: skip

    def collatz(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    n = np.arange(1, 30, dtype=np.int32)
    found, above = steps(bg.asarray(n))
    assert found.tolist() == [collatz(one) for one in n]
    assert_same(above, n.astype(np.float32))
    mixed = bg.ElementwiseKernel(
        "float32 x, int32 k, uint32 u, bool on", "float32 a, int32 b, uint32 c, bool d",
        """
        float part[3];
        for (int j = 0; j < 3; j++) { part[j] = x * j; if (j == 1) continue; part[j] += 1; }
        a = part[0] + part[1] + part[2] + k / 2 + on;
        b = x + k * 0.5f;              // a float, cut off
        c = (unsigned int)k + (u << 2) & 0xFF;
        d = !(x > k) || on && k;
        """,
        "mixed",
    )  # fmt: skip
    x, k = np.float32([0.5, -2.5, 3.0]), np.int32([7, 2, 3])
    u, on = np.uint32([1, 2, 300]), np.array([True, False, True])
    a, b, c, d = mixed(*map(bg.asarray, (x, k, u, on)))
    assert_same(a, x * 3 + 2 + k // 2 + on, rtol=1e-6)
    assert_same(b, np.trunc(x + k * np.float32(0.5)).astype(np.int32))
    assert_same(c, (k.astype(np.uint32) + (u << np.uint32(2))) & np.uint32(0xFF))
    assert_same(d, ~(x > k) | (on & (k != 0)))
    functions = bg.ElementwiseKernel(
        "float32 x", "float32 a, float32 b, bool c",
        """
        a = fmaxf(x, 0.25f) + powf(x, 3) + fmod(x, 0.75f) + copysign(1.5f, x) + round(x) + cbrt(x);
        b = erff(x) + lgamma(fabs(x) + 1) + hypot(x, 2) + max(x, 1.0f) + log1p(x * x) + M_PI;
        c = isnan(x) || isinf(x);
        """,
        "functions",
    )  # fmt: skip
    x = np.float32([-2.5, -0.5, 0.1, 1.5, 3.0])
    a, b, c = functions(bg.asarray(x))
    rounded = np.trunc(x + np.copysign(0.5, x))
    expected = np.maximum(x, 0.25) + x**3 + np.fmod(x, 0.75) + np.copysign(1.5, x) + rounded
    np.testing.assert_allclose(a.numpy(), expected + np.cbrt(x), rtol=2e-6, atol=2e-6)
    expected = [math.erf(v) + math.lgamma(abs(v) + 1) + math.hypot(v, 2) + max(v, 1.0)
                + math.log1p(v * v) + math.pi for v in x.tolist()]  # fmt: skip
    np.testing.assert_allclose(b.numpy(), expected, rtol=2e-6)
    assert c.tolist() == [False] * 5
    z = (np.arange(3) + 1j).astype(np.complex64)
    square = bg.ElementwiseKernel(
        "complex64 z", "complex64 w, float32 n", "w = z * z + 1; n = z.real()"
    )
    w, real = square(bg.asarray(z))
    assert_same(w, z * z + 1, rtol=1e-6)
    assert_same(real, z.real)


def test_results_as_cupy_gives_them(bg: Any) -> None:
    x = bg.asarray(ROW)
    one = bg.ElementwiseKernel("T x", "T y", "y = x", "one", return_tuple=True)
    assert isinstance(one(x), tuple)
    nothing = bg.ElementwiseKernel("T x", "T y", "y = 2 * x", "nothing", no_return=True)
    y = bg.zeros(10)
    assert nothing(x, y) is None
    assert_same(y, 2 * ROW)
    chained = bg.ElementwiseKernel("T x", "T y", "y = x > 2 ? x : -x", "chained", False)
    assert "chained" in bg.explain(chained(x + 1) * 2).splitlines()[0]
    own = bg.ElementwiseKernel(
        "T x", "T y", "y = f(x)", "f1", preamble="fn f(x: T) -> T { return 2 * x; }"
    )
    other = bg.ElementwiseKernel(
        "T x", "T y", "y = f(x)", "f2", preamble="T f(T x) { x += 1; return x; }"
    )
    assert_same(own(x) + other(x), 3 * ROW + 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("y = *x;", "pointers"), ("float* p;", "pointers"), ("y = x; }", "line 1"),
        ("switch (x) {}", "switch"), ("y = 1;\ny = (x", "line 2"), ("long long q = 3;", "long"),
        ("y = x++ + 1", "line 1"), ("__shared__ float s;", "RawKernel"), ("y = 010;", "octal"),
        ("char c = 1;", "char"), ("#define A 1", "#"), ("y = x ? 1;", "expected ':'"),
        ("y = `x`;", "unexpected character"),
    ],
)  # fmt: skip
def test_c_that_is_refused_at_once(bg: Any, text: str, told: str) -> None:
    with pytest.raises(ValueError, match="operation must be WGSL, or C") as caught:
        bg.ElementwiseKernel("T x", "T y", text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("y = x[i];", "not a raw parameter"), ("return;", "'return' is not supported"),
        ("y = atomicAdd(x, 1);", "RawKernel"), ("y = x.data();", "not translated"),
        ("y = x % 2;", "fmod"), ("void v;", "void"),
    ],
)  # fmt: skip
def test_c_that_is_refused_by_its_types(bg: Any, text: str, told: str) -> None:
    made = bg.ElementwiseKernel("T x", "T y", text)
    with pytest.raises(ValueError, match="must be WGSL, or C") as caught:
        made(bg.asarray(ROW))
    assert told in str(caught.value)


def test_arguments_that_are_refused(bg: Any) -> None:
    for call in (
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", options=("-O3",)),
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", loop_prep="int j;"),
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", after_loop="int j;"),
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", "k", 3),
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", preamble=3),
        lambda: bg.ElementwiseKernel("T x", "T y", "y = x", preamble="float f(float* x) {}"),
        lambda: bg.ElementwiseKernel("T x", "", "y = x"),
        lambda: bg.ReductionKernel("raw T x", "T y", "x", "a + b", "y = a", 0),
        lambda: bg.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, options=("-O3",)),
        lambda: bg.RawKernel("fn f() {}", "f", ("-O3",)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            call()


def test_raw_kernels_with_cupys_call_syntax(bg: Any) -> None:
    add = bg.RawKernel(
        """
        struct Numbers { more: f32 }
        @group(0) @binding(0) var<uniform> numbers: Numbers;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(4) fn add(@builtin(global_invocation_id) id: vec3u) {
          y[id.x] += numbers.more;
        }""",
        "add",
    )
    y = bg.zeros(8)
    add((2,), (4,), (y, np.float32(1.5)))
    assert_same(y, np.full(8, 1.5))
    with pytest.raises(ValueError, match=r"block must be \(4, 1, 1\)"):
        add((2,), (8,), (y, np.float32(1)))
    for text in ('extern "C" __global__ void f(float* x) { x[threadIdx.x] = 1; }',
                 "__global__ void f(float* x) {}"):  # fmt: skip
        with pytest.raises(ValueError, match="code must be WGSL, got CUDA C") as caught:
            bg.RawKernel(text, "f")
        assert "@compute @workgroup_size" in str(caught.value)
