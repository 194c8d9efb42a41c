"""Batching rules of functions along axes: each axis moves by one position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.autograd.batching.calls import RULES, Call, NoRule, Rule, part, rank_of
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation, parts

_FUNCTIONS = "browsergpu.functions."


def moved(op: str, name: str, axis: Any, rank: int) -> int:
    """Return an axis of an example as an axis of all examples."""
    return shapes.axis(op, name, axis, rank) + 1


def _of_axes(call: Call) -> Any:
    """Take one axis, several, or all axes of an example for None."""
    x, axis = call.given["x"], call.given["axis"]
    if not x.ndim:
        shapes.axes(call.op, "axis", axis, 0)
        column = manipulation.expand_dims(call.value(x), axis=1)
        return call(x=column, axis=1, **({"keepdims": False} if "keepdims" in call.given else {}))
    return call(axis=tuple([n + 1 for n in shapes.axes(call.op, "axis", axis, x.ndim)]))


def _of_some_axes(call: Call) -> Any:
    """Take one axis or several, which the example has."""
    x, axis = call.given["x"], call.given["axis"]
    return call(axis=tuple([n + 1 for n in shapes.axes(call.op, "axis", axis, x.ndim)]))


def _of_axis(of: str = "x", axis: str = "axis") -> Rule:
    """Take one axis. None takes the flattened example, or its only axis."""

    def rule(call: Call) -> Any:
        x, at = call.given[of], call.given[axis]
        if at is None:
            if x.ndim > 1 and call.op.startswith("cumulative"):
                raise InvalidArgument(call.op, axis, None, "an axis, as x has several")
            return call(**{of: _flat(call, x), axis: 1})
        return call(**{axis: moved(call.op, axis, at, x.ndim)})

    return rule


def _flat(call: Call, x: Any) -> Any:
    return manipulation.reshape(call.full(x), (call.frame.size, x.size))


def _of_extreme(call: Call) -> Any:
    """Take the axis of ``argmax``. None takes the index in the flattened example."""
    x, axis, keepdims = (call.given[name] for name in ("x", "axis", "keepdims"))
    if axis is not None:
        return call(axis=moved(call.op, "axis", axis, x.ndim))
    found = call(x=_flat(call, x), axis=1, keepdims=False)
    return manipulation.reshape(found, (call.frame.size, *(1,) * x.ndim)) if keepdims else found


def _permute_dims(call: Call) -> Any:
    x, axes = call.given["x"], call.given["axes"]
    if axes is None:
        return call(axes=(0, *range(x.ndim, 0, -1)))
    if not checks.is_several(axes):
        raise InvalidArgument(call.op, "axes", axes, f"each axis below {x.ndim} once")
    return call(axes=(0, *[moved(call.op, "axes", n, x.ndim) for n in axes]))


def _moveaxis(call: Call) -> Any:
    rank = call.given["x"].ndim
    places = {
        name: tuple([
            moved(call.op, name, n, rank) for n in (given if checks.is_several(given) else (given,))
        ])
        for name in ("source", "destination") for given in [call.given[name]]
    }  # fmt: skip
    return call(**places)


def _expand_dims(call: Call) -> Any:
    given = call.given["axis"]
    places = tuple(given) if checks.is_several(given) else (given,)
    rank = call.given["x"].ndim + len(places)
    return call(axis=tuple([n + 1 for n in shapes.axes(call.op, "axis", places, rank)]))


def _roll(call: Call) -> Any:
    x, axis = call.given["x"], call.given["axis"]
    if axis is None:
        found = call(x=_flat(call, x), axis=1)
        return manipulation.reshape(found, (call.frame.size, *x.shape))
    if checks.is_several(axis):
        return call(axis=tuple([moved(call.op, "axis", n, x.ndim) for n in axis]))
    return call(axis=moved(call.op, "axis", axis, x.ndim))


def _tile(call: Call) -> Any:
    x, counts = call.given["x"], checks.dimensions("tile", "repetitions", call.given["repetitions"])
    rank = max(len(counts), x.ndim)
    whole = (1,) * (rank - len(counts)) + counts
    return call(x=call.ranked(x, rank), repetitions=(1, *whole))


def _joined(call: Call) -> Any:
    """Join arrays along an axis that they have (``concat``) or get (``stack``)."""
    arrays, axis = call.given["arrays"], call.given["axis"]
    values = [call.full(x) for x in arrays]
    if axis is None:
        return call(arrays=[_flat(call, x) for x in arrays], axis=1)
    rank = arrays[0].ndim + (call.op == "stack")
    return call(arrays=values, axis=moved(call.op, "axis", axis, rank))


def _diff(call: Call) -> Any:
    x = call.given["x"]
    beside = {
        name: call.full(call.given[name])
        for name in ("prepend", "append") if call.given[name] is not None
    }  # fmt: skip
    return call(x=call.full(x), axis=moved(call.op, "axis", call.given["axis"], x.ndim), **beside)


def _take(call: Call) -> Any:
    x, indices, axis = (call.given[name] for name in ("x", "indices", "axis"))
    if axis is None and x.ndim != 1:
        raise InvalidArgument("take", "axis", axis, "an axis")
    at = shapes.axis("take", "axis", 0 if axis is None else axis, x.ndim)
    key = (*(slice(None),) * at, indices)
    return call.full(parts.part(x, key) if call.has(x) else part(x, key))


def _take_along_axis(call: Call) -> Any:
    x, indices = call.given["x"], call.given["indices"]
    axis = moved(call.op, "axis", call.given["axis"], x.ndim)
    return call(x=call.full(x), indices=call.full(indices), axis=axis)


def _of_pair(call: Call) -> Any:
    """Take two arrays that broadcast, and one of their axes."""
    x1, x2, axis = (call.given[name] for name in ("x1", "x2", "axis"))
    rank = rank_of(x1, x2)
    if axis >= 0:
        axis = shapes.axis(call.op, "axis", axis, x1.ndim) - x1.ndim
    shapes.axis(call.op, "axis", axis, min(x1.ndim, x2.ndim))
    return call(x1=call.ranked(x1, rank), x2=call.ranked(x2, rank), axis=axis)


def _searchsorted(call: Call) -> Any:
    if call.has(call.given["x1"]) or call.has(call.given["sorter"]):
        raise NoRule
    return call()


def _isin(call: Call) -> Any:
    if call.has(call.given["x2"]):
        raise NoRule
    return call()


def _leading(rank: int) -> Rule:
    """Return the rule of a function of the last ``rank`` axes, which an example must have."""

    def rule(call: Call) -> Any:
        x = call.given["x"]
        if x.ndim < rank:
            raise InvalidArgument(call.op, "x", x, f"have at least {rank} axes")
        return call()

    return rule


_RULES: dict[str, dict[str, Callable[[Call], Any]]] = {
    "creation": dict.fromkeys(("tril", "triu"), _leading(2)),
    "fourier": dict.fromkeys(("fft", "ifft", "rfft", "irfft"), _of_axis()),
    "linalg.decompositions": dict.fromkeys(
        ("cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"), _leading(2)
    ),
    "linalg.equations": dict.fromkeys(("det", "inv", "inverse", "slogdet"), _leading(2)),
    "linalg.linear": {"cross": _of_pair, "vecdot": _of_pair, "diagonal": _leading(2)},
    "linalg.norms": {
        "matrix_rank": _leading(2), "pinv": _leading(2), "vector_norm": _of_axes,
    },
    "manipulation": {
        "concat": _joined, "expand_dims": _expand_dims, "flip": _of_some_axes,
        "matrix_transpose": _leading(2), "moveaxis": _moveaxis, "permute_dims": _permute_dims,
        "repeat": _of_axis(), "roll": _roll, "squeeze": _of_some_axes, "stack": _joined,
        "take": _take, "tile": _tile, "transpose": _permute_dims, "unstack": _of_axis(),
    },
    "nn.activations": dict.fromkeys(("log_softmax", "softmax"), _of_axis("input", "dim")),
    "nn.gates": dict.fromkeys(("glu", "softmin"), _of_axis("input", "dim")),
    "ordering.sets": {"isin": _isin},
    "ordering.sorting": {
        **dict.fromkeys(("argmax", "argmin"), _of_extreme),
        **dict.fromkeys(("argsort", "sort", "cumulative_prod", "cumulative_sum"), _of_axis()),
        "diff": _diff, "searchsorted": _searchsorted, "take_along_axis": _take_along_axis,
    },
    "statistics": dict.fromkeys(
        ("all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"),
        _of_axes,
    ),
    "weighted_sums": {"weighted_sums": _of_axis()},
}  # fmt: skip
RULES |= {
    f"{_FUNCTIONS}{module}.{name}": rule
    for module, rules in _RULES.items() for name, rule in rules.items()
}  # fmt: skip
