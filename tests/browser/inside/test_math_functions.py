"""The elementwise functions of shaders/lib/math against float64, one kernel per file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from inside import reference as plain
from inside.comparison import assert_matches, assert_same_bits
from inside.test_shaders import messages
from inside.tolerances import SUBNORMAL

pytestmark = pytest.mark.firefox

FILES = {
    "angles": [],
    "arcs": ["asin", "acos", "atan", "atan2"],
    "bits": [],
    "exponentials": ["exp", "expm1"],
    "gelu": ["gelu", "gelu_tanh", "ndtr", "sigmoid", "silu"],
    "hyperbolic": ["sinh", "cosh", "tanh"],
    "inverse_hyperbolic": ["asinh", "acosh", "atanh"],
    "logarithms": ["log", "log1p", "log2", "log10", "logaddexp"],
    "powers": ["exp2", "pow"],
    "quotients": ["divide", "reciprocal"],
    "remainders": ["floor_divide", "remainder"],
    "rounding": ["floor", "ceil", "trunc", "round"],
    "roots": ["square", "sqrt", "hypot"],
    "signs": ["isnan", "isinf", "isfinite", "signbit", "copysign", "sign", "nextafter"],
    "trigonometry": ["sin", "cos", "tan"],
    "wide": [],
    "wide_log2": [],
}
LARGEST = np.finfo(np.float32).max
TRUTHS = {"isnan", "isinf", "isfinite", "signbit"}  # functions with boolean results
EXACT = {*FILES["signs"], *FILES["rounding"]}


def reference(name: str) -> Callable[..., np.ndarray]:
    """Return NumPy's function."""
    other = {
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
        "asinh": np.arcsinh, "acosh": acosh, "atanh": np.arctanh,
        "pow": np.power, "round": np.rint, "floor_divide": floor_of_quotient,
        "gelu": plain.UNARY["gelu_erf"], "gelu_tanh": plain.UNARY["gelu"], "ndtr": ndtr,
        "sigmoid": plain.UNARY["sigmoid"], "silu": plain.UNARY["silu"],
    }  # fmt: skip
    return other.get(name) or getattr(np, name)


def ndtr(x: np.ndarray) -> np.ndarray:
    """Return the standard normal distribution function."""
    return 0.5 * np.vectorize(math.erfc, otypes=[np.float64])(-x / np.sqrt(2.0))


def acosh(x: np.ndarray) -> np.ndarray:
    """Return arccosh; Pyodide's gives numbers for some x below -10,000."""
    return np.where(x < 1, np.nan, np.arccosh(x))


def floor_of_quotient(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return floor_divide with the Array API standard's results for infinite operands."""
    is_infinite = np.isinf(p) | np.isinf(q)
    return np.where(is_infinite, np.divide(p, q), np.floor_divide(p, q))


class Bound(NamedTuple):
    """The allowed error in ULP of the exact result, and the reason."""

    ulps: float
    why: str


_WIDE = "more digits than float32's, rounded once"
_SMALL = "one rounding counts, the others are of smaller parts"
_NORMAL = "erfc's fit, 1.2e-7, a quotient of WGSL's, and the rounded exponents of two powers"
_THREE = "three roundings of parts as large as the result"

BOUNDS = {
    **dict.fromkeys(("divide", "reciprocal", "sqrt", "log2", "log10"), Bound(0.51, _WIDE)),
    "exp2": Bound(0.8, _WIDE),
    "pow": Bound(0.9, _WIDE),
    "square": Bound(0.5, "correctly rounded"),
    "floor_divide": Bound(0.51, "exact up to 2^24, and a quotient beyond"),
    "remainder": Bound(0.5, "exact, and the sum with the divisor rounded"),
    **dict.fromkeys(("log", "log1p", "asin", "acos"), Bound(1.0, _SMALL)),
    "exp": Bound(1.2, "the exponent's rest is off by half an ULP, as is the power"),
    "hypot": Bound(1.5, "the sum of squares has three roundings, of which the root halves"),
    **dict.fromkeys(("sin", "cos", "expm1", "tanh"), Bound(2.0, _THREE)),
    "tan": Bound(2.0, "a quotient makes what the polynomial is off by twice as many ULP"),
    **dict.fromkeys(("sinh", "cosh"), Bound(2.0, "exp, a quotient of WGSL's and their sum")),
    "gelu": Bound(10, _NORMAL),
    "gelu_tanh": Bound(150, "exp(-2u) multiplies the roundings of u by up to 88"),
    "ndtr": Bound(10, _NORMAL),
    "sigmoid": Bound(5, "exp, a sum, and a quotient of WGSL's, 2.5 ULP"),
    "silu": Bound(10, "exp twice, a quotient of WGSL's, and four products"),
    "atan": Bound(2.0, "a quotient of WGSL's, 2.5 ULP, that is smaller than the result"),
    "atan2": Bound(2.5, "a quotient, atan, and a difference from π"),
    **dict.fromkeys(("asinh", "atanh"), Bound(2.0, "a quotient or a root in log1p")),
    "acosh": Bound(2.5, "a root of a sum in log1p"),
    "logaddexp": Bound(1.5, "ULP of the larger term, which may cancel"),
}

SPECIALS = np.array(
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 1e10, 2.0**24 + 2, 2.0**-126, 3.4028235e38, np.inf],
    np.float32,
)
SPECIALS = np.concatenate([SPECIALS, -SPECIALS, np.float32([np.nan])])


def any_size(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return normal numbers of either sign, with uniformly distributed exponents."""
    size = generator.uniform(1.0, 2.0, n) * 2.0 ** generator.integers(-126, 128, n)
    return (size * generator.choice([-1.0, 1.0], n)).astype(np.float32)


def neighbours(x: np.ndarray) -> np.ndarray:
    """Return the float32 numbers nearest to float64 numbers, and their neighbours."""
    nearest = x.astype(np.float32)
    sides = [np.nextafter(nearest, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([nearest, *sides])


def is_normal(x: np.ndarray) -> np.ndarray:
    """Return whether numbers are not subnormal; subnormal ones may be flushed to 0."""
    return (np.abs(x) >= SUBNORMAL) | (x == 0) | np.isnan(x)


def without_subnormal(x: np.ndarray) -> np.ndarray:
    return np.where(is_normal(x), x, np.copysign(np.float32(0), x))


def cut(x: np.ndarray) -> np.ndarray:
    """Repeat elements to fill whole vec4s."""
    return np.resize(x, -(-x.size // 4) * 4)


@cache
def one_operand() -> np.ndarray:
    """Return special values, all exponents, and points near zeros, extremes and overflows."""
    generator = np.random.default_rng(1)
    quarters = np.concatenate([np.arange(1.0, 301.0), generator.integers(301, 10**7, 200)])
    places = [math.log(2.0) * k for k in range(-126, 129)]
    places += [0.4375, 0.5, 0.625, 0.6875, 1.0, 1.1875, 2.0, 2.4375, 10.0, 6400.0, 16384.0]
    offsets = np.geomspace(2.0**-24, 0.5, 200)
    parts = [
        SPECIALS,
        any_size(generator, 8000),
        neighbours(quarters * (math.pi / 2)),
        # The float32 nearest to a multiple of a quarter turn, and two others.
        np.float32([16367173.0 * 2.0**72, 1.2802264e15, 5.4222e29]),
        neighbours(np.array(places)),
        np.concatenate([1.0 + offsets, 1.0 - offsets, offsets - 1.0, -1.0 - offsets]),
        np.linspace(-130.0, 130.0, 4000),
        np.linspace(-3.0, 3.0, 4000),
        generator.uniform(-7000.0, 7000.0, 1000),
    ]
    values = np.concatenate([part.astype(np.float32) for part in parts])
    return cut(values[is_normal(values)])


@cache
def two_operands() -> tuple[np.ndarray, np.ndarray]:
    """Return pairs: special values, all exponents, similar sizes, integers, and powers."""
    generator = np.random.default_rng(2)
    pairs = [np.meshgrid(SPECIALS, SPECIALS)]
    pairs += [(any_size(generator, 6000), any_size(generator, 6000))]
    like = any_size(generator, 4000)
    pairs += [(like, like * generator.uniform(0.03, 30.0, like.size))]
    pairs += [generator.integers(-100, 101, (2, 2000)) / [[1.0], [8.0]]]
    pairs += [(10.0 ** generator.uniform(-3.0, 3.0, 3000), generator.uniform(-15.0, 15.0, 3000))]
    pairs += [(1.0 + 2.0 ** generator.uniform(-23, 0, 1000), 2.0 ** generator.uniform(0, 30, 1000))]
    nearly = generator.uniform(-2.0, 0.0, 1000)
    pairs += [(nearly, np.log1p(-np.exp(nearly)))]  # their logaddexp is nearly 0
    with np.errstate(over="ignore"):
        p, q = (
            np.concatenate([np.ravel(part) for part in parts]).astype(np.float32)
            for parts in zip(*pairs, strict=True)
        )
    both = is_normal(p) & is_normal(q)
    return cut(p[both]), cut(q[both])


def declared(file: str) -> dict[str, int]:
    """Return the functions of a file of lib/math, with their number of operands."""
    from browsergpu.engine.kernels.text import shaders

    text = (shaders.directory() / f"lib/math/{file}.wgsl").read_text(encoding="utf-8")
    found = re.findall(r"^fn np_(\w+)\(([^)]*)\) -> vec4(?:f|<bool>) \{$", text, re.MULTILINE)
    return {name: operands.count(": vec4f") for name, operands in found}


def source(file: str) -> str:
    """Return a kernel that writes the results of a file's functions one after another."""
    from browsergpu.engine.kernels.text import shaders

    lines = []
    for k, (name, operands) in enumerate(declared(file).items()):
        value = f"np_{name}({', '.join('pq'[:operands])})"
        if name in TRUTHS:
            value = f"select(vec4f(), vec4f(1.0), {value})"
        lines.append(f"  y[{k}u * params.n + i] = {value};\n")
    return f"""struct Params {{ n: u32 }}
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  let i = id.x;
  if (i >= params.n) {{
    return;
  }}
  let p = a[i];
  let q = b[i];
{"".join(lines)}}}
{shaders.load(f"lib/math/{file}.wgsl")}"""


def run(backend: Any, file: str, p: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return the results of each function of a file for the same operands."""
    from browsergpu import KernelExecutor

    executor = KernelExecutor(backend.device)
    names = list(declared(file))
    a, b = executor.from_numpy(p), executor.from_numpy(q)
    y = executor.full((len(names), p.size), 0.0)
    count = np.array([p.size // 4], np.uint32)
    executor.execute_custom_kernel(source(file), "main", [a, b, y], -(-p.size // 256), count)
    return dict(zip(names, y.numpy(), strict=True))


def without_payload(x: np.ndarray) -> np.ndarray:
    """Return the array with a single bit pattern for NaN."""
    return np.where(np.isnan(x), np.float32(np.nan), x)


def expected_of(name: str, *operands: np.ndarray) -> np.ndarray:
    """Return NumPy's result, computed in float64 unless the function is exact."""
    if name not in TRUTHS | EXACT:
        operands = tuple(x.astype(np.float64) for x in operands)
    with np.errstate(all="ignore"):
        return reference(name)(*operands)


def allowed_of(name: str, expected: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """Return the allowed error."""
    size = np.abs(expected)
    least = np.where(size < 2 * SUBNORMAL, 2 * SUBNORMAL, 0.0)
    if name in ("logaddexp", "remainder"):  # an intermediate result may be subnormal
        least = 2 * SUBNORMAL
    with np.errstate(all="ignore"):
        if name == "logaddexp":
            p, q = (x.astype(np.float64) for x in operands)
            apart = np.abs(p - q)
            # The ULPs also count the rounded difference's effect on the exponential.
            difference = np.nan_to_num(apart * np.exp(-apart))
            size = np.maximum(size, np.abs(np.maximum(p, q))) + difference
        ulp = np.spacing(np.minimum(size, LARGEST).astype(np.float32)).astype(np.float64)
    return np.maximum(BOUNDS[name].ulps * ulp, least)


def check(name: str, result: np.ndarray, *operands: np.ndarray) -> None:
    expected = expected_of(name, *operands)
    if name in TRUTHS | EXACT:
        wanted = without_payload(expected.astype(np.float32))
        assert_same_bits(without_payload(result), wanted, name)
        return
    # Results just below the largest float32 may be off by an ULP, which gives infinity.
    kept = ~(np.abs(np.abs(expected) * 2.0**-128 - 1.0) < 2.0**-20)
    allowed = allowed_of(name, expected, *operands)
    why = f"{name}: {BOUNDS[name].ulps} ULP, {BOUNDS[name].why}"
    with np.errstate(invalid="ignore"):  # infinity times a tolerance of 0
        assert_matches(result[kept], expected[kept], rtol=0.0, atol=allowed[kept], why=why)
    zeros = (expected == 0) & (result == 0)
    wrong = zeros & (np.signbit(expected) != np.signbit(result))
    assert not wrong.any(), f"{name}: sign of zero at {[x[wrong][0] for x in operands]}"


@pytest.mark.parametrize("file", [file for file, names in FILES.items() if names])
def test_functions_of(backend: Any, file: str) -> None:
    operands = {1: (one_operand(), one_operand()), 2: two_operands()}
    for count, (p, q) in operands.items():
        names = [name for name, found in declared(file).items() if found == count]
        if names:
            results = run(backend, file, p, q)
        for name in names:
            check(name, results[name], *(p, q)[:count])


@pytest.mark.parametrize("file", [file for file, names in FILES.items() if names])
def test_subnormal_numbers_count_as_themselves_or_as_zeros(backend: Any, file: str) -> None:
    some = np.float32([1e-45, 1e-40, 1.17e-38])
    some = np.concatenate([some, -some])
    each = np.concatenate([some, SPECIALS])
    p, q = (np.ravel(x) for x in np.meshgrid(each, each))
    p, q = (cut(x[np.isin(p, some) | np.isin(q, some)]) for x in (p, q))
    results = run(backend, file, p, q)
    for name, count in declared(file).items():
        result = results[name]
        is_good = np.zeros(p.shape, bool)
        for operands in product(*((x, without_subnormal(x)) for x in (p, q)[:count])):
            expected = expected_of(name, *operands)
            with np.errstate(all="ignore"):
                is_good |= result == expected.astype(np.float32)
                if name in BOUNDS:
                    is_good |= np.abs(result - expected) <= allowed_of(name, expected, *operands)
            is_good |= np.isnan(result) & np.isnan(expected)
        at = [x[~is_good][:1] for x in (p, q)[:count]]
        assert is_good.all(), f"{name} of {at} is {result[~is_good][:1]}"


def test_every_function_has_its_bound() -> None:
    from browsergpu.engine.kernels.text import shaders

    folder = shaders.directory() / "lib/math"
    assert {path.stem for path in folder.iterdir()} == FILES.keys()
    for file, names in FILES.items():
        assert list(declared(file)) == names
        text = (folder / f"{file}.wgsl").read_text(encoding="utf-8")
        assert text.count("\nfn np_") == len(names)
    assert BOUNDS.keys() == {name for names in FILES.values() for name in names} - TRUTHS - EXACT


@pytest.mark.parametrize("file", [file for file, names in FILES.items() if names])
def test_files_compile_without_a_warning(file: str) -> None:
    import js
    from pyodide.ffi import run_sync

    # The most recently opened device may be lost.
    adapter = run_sync(js.navigator.gpu.requestAdapter())
    device = run_sync(adapter.requestDevice())
    assert messages(device, source(file)) == []
    device.destroy()
