"""Comparison of both gradient directions with central differences in float64 on the host.

For a call y = f(x), random tangents v and cotangents u, let D = (f(x + h v) - f(x - h v)) / 2h:

    reverse   sum of g v, where g is what vjp gives for u  =  sum of u D
    forward   what jvp gives for v                         =  D

A complex number counts as two numbers: the sums are of Re(conj(u) D).

The allowed difference, in multiples of eps of the least precise dtype, is

    (ROUNDINGS + terms of a sum) (size + condition + unit)

``size``: the sum of |terms| (reverse), or the largest |D| (forward). ``condition``: the relative
change of D when each element of x changes slightly, as float32 rounding changes it. ``unit``: one
term of size 1 for each element of v or u, because rules compute with numbers of about that size,
which may cancel. D itself has an error of h^2 f''' / 6 plus the rounding of f over h. A second D
with twice the step estimates it, and must differ by far less than allowed. If it does not, the
operands are too near a kink or a pole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from inside.gradients.drawn.operands import Operand

#: Roundings from operands to a result: a rule's operations, and the ULPs of functions such as exp,
#: sin and pow, doubled because some results combine several of them.
ROUNDINGS = 8
#: Near the cube root of float64's 2^-53, where truncation and rounding errors are equal.
STEP = 2.0**-17
#: The relative change of x that measures the condition.
CHANGE = 2.0**-16


class Call(NamedTuple):
    """``ours(bg, *arrays)`` and ``theirs(*arrays)``, NumPy's float64 result: one array or several.

    ``roundings``: set if a function needs more than others, with the reason beside it. ``beside``:
    arguments of theirs before the arrays, such as numbers drawn by browsergpu's generators.
    """

    operands: Sequence[Operand]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    roundings: float = ROUNDINGS
    beside: Callable[[Any], tuple[Any, ...]] | None = None


#: Memory layouts of the cotangent that a rule gets.
COTANGENTS = ("plain", "transposed", "flipped", "broadcast")


def agrees(bg: Any, call: Call, seed: int, cotangent: str) -> None:
    """Compare both directions."""
    rng = np.random.default_rng(seed)
    bases = [one.base for one in call.operands]
    along = [_random(rng, x) for x in bases]
    more = call.beside(bg) if call.beside else ()

    def theirs(*given: np.ndarray) -> list[np.ndarray]:
        views = [one.seen(np, x) for one, x in zip(call.operands, given, strict=True)]
        return [np.asarray(y) for y in results(call.theirs(*more, *views))]

    def ours(*given: Any) -> list[Any]:
        views = [one.seen(bg, x) for one, x in zip(call.operands, given, strict=True)]
        return results(call.ours(bg, *views))

    with np.errstate(all="ignore"):
        slopes, condition, doubt = _slopes(theirs, [_wide(x) for x in bases], along, rng)
    arrays = [bg.asarray(x) for x in bases]
    values, pullback = bg.vjp(ours, *arrays)
    for y, slope in zip(values, slopes, strict=True):
        assert y.shape == slope.shape, f"a result has shape {y.shape}, NumPy's {slope.shape}"
    given = [_cotangent(bg, rng, y, cotangent) for y in values]
    gradients = pullback([u for u, _ in given])
    for n, (g, x) in enumerate(zip(gradients, bases, strict=True)):
        assert (g.shape, g.dtype) == (x.shape, x.dtype), f"gradient {n}: {g.shape}, {g.dtype}"
    eps = max(_eps(x.dtype) for x in (*bases, *values))
    allowed = call.roundings * eps + 2.0**-24 * max(x.size for x in (*bases, *values))
    _reverse([g.numpy() for g in gradients], along, [u for _, u in given], slopes, condition,
             doubt, allowed)  # fmt: skip
    tangents = [bg.asarray(v) for v in along]
    _, found = bg.jvp(ours, arrays, tangents)
    for n, y in enumerate(found):
        assert y.dtype == values[n].dtype, f"tangent {n}: {y.dtype}, not {values[n].dtype}"
        _forward(n, y.numpy(), along, slopes[n], condition[n], doubt[n], allowed)


def results(found: Any) -> list[Any]:
    """Return results as a list, also a single one."""
    return list(found) if isinstance(found, tuple | list) else [found]


def _reverse(
    gradients: list[np.ndarray], along: list[np.ndarray], cotangents: list[np.ndarray],
    slopes: list[np.ndarray], condition: list[np.ndarray], doubt: list[np.ndarray], allowed: float,
) -> None:  # fmt: skip
    own = [_products(g, v) for g, v in zip(gradients, along, strict=True)]
    other = [_products(u, d) for u, d in zip(cotangents, slopes, strict=True)]
    found, expected = (sum(float(x.sum()) for x in terms) for terms in (own, other))
    size = sum(float(np.abs(x).sum()) for x in (*own, *other))
    pairs = list(zip(cotangents, condition, doubt, strict=True))
    size += sum(float((np.abs(u) * k).sum()) for u, k, _ in pairs)
    size += _units(along) + _units(cotangents)
    doubted = sum(float((np.abs(u) * d).sum()) for u, _, d in pairs)
    _close("reverse: sum of g v", found, expected, allowed * size, doubted)


def _forward(
    n: int, found: np.ndarray, along: list[np.ndarray], slope: np.ndarray, condition: np.ndarray,
    doubt: np.ndarray, allowed: float,
) -> None:  # fmt: skip
    if not slope.size:
        return
    unit = max((float(np.abs(v).max()) for v in along if v.size), default=0.0)
    size = float(np.abs(slope).max()) + float(condition.max()) + unit
    error = np.abs(found - slope)
    at = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    what = f"forward: result {n} at {tuple(map(int, at))}"
    _close(what, found[at], slope[at], allowed * size, float(doubt.max()))


def _close(what: str, found: Any, expected: Any, allowed: float, doubt: float) -> None:
    assert doubt <= max(allowed / 4, 1e-9), (
        f"{what}: differences of two steps differ by {doubt:.2g}, allowed are {allowed:.2g}: "
        f"operands are too near a corner or a pole"
    )
    error = abs(found - expected)
    assert error <= allowed, (
        f"{what} is {found}, not {expected}: by {error / allowed:.3g} × allowed"
    )


def _slopes(
    f: Callable[..., list[np.ndarray]], x: list[np.ndarray], along: list[np.ndarray],
    rng: np.random.Generator,
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:  # fmt: skip
    """Return D of each result, its condition, and its distance from the D of twice the step."""
    v = [_wide(one) for one in along]
    slopes, wider = _differences(f, x, v, STEP), _differences(f, x, v, 2 * STEP)
    doubt = [np.abs(a - b) for a, b in zip(slopes, wider, strict=True)]
    condition = [np.zeros(d.shape) for d in slopes]
    for _ in range(2):
        changed = _differences(f, [_changed(rng, one) for one in x], v, STEP)
        condition = [
            np.maximum(k, np.abs(c - d) / CHANGE)
            for k, c, d in zip(condition, changed, slopes, strict=True)
        ]
    for d in slopes:
        assert np.isfinite(d).all(), f"NumPy's differences are not finite:\n{d}"
    return slopes, condition, doubt


def _differences(
    f: Callable[..., list[np.ndarray]], x: list[np.ndarray], v: list[np.ndarray], step: float
) -> list[np.ndarray]:
    ahead, behind = (
        f(*[a + sign * step * b for a, b in zip(x, v, strict=True)]) for sign in (1, -1)
    )
    return [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


def _changed(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    def factors() -> np.ndarray:
        return 1 + CHANGE * rng.choice([-1.0, 1.0], x.shape)

    return x.real * factors() + 1j * x.imag * factors() if x.dtype.kind == "c" else x * factors()


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.real(np.conj(_wide(a)) * _wide(b))


def _units(arrays: list[np.ndarray]) -> float:
    return sum(float(np.abs(x).sum()) for x in arrays)


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _eps(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).eps)


def _random(rng: np.random.Generator, like: Any) -> np.ndarray:
    shape, dtype = tuple(like.shape), np.dtype(like.dtype)
    found = rng.uniform(-1, 1, shape)
    if dtype.kind == "c":
        found = found + 1j * rng.uniform(-1, 1, shape)
    return np.asarray(found, dtype)


def _cotangent(bg: Any, rng: np.random.Generator, y: Any, kind: str) -> tuple[Any, np.ndarray]:
    """Return a cotangent on the GPU, and the same numbers on the host."""
    u = _random(rng, y)
    if kind == "transposed":
        return bg.transpose(bg.asarray(np.transpose(u).copy())), u
    if kind == "flipped":
        return bg.flip(bg.asarray(np.flip(u).copy())), u
    if kind == "broadcast":
        u = np.full(u.shape, _random(rng, np.zeros((), u.dtype)))
        one = bg.asarray(np.asarray(u.flat[0] if u.size else 1, u.dtype))
        return bg.broadcast_to(one, u.shape), u
    return bg.asarray(u), u
