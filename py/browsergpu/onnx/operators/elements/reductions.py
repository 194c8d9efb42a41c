"""Reductions over axes, and cumulative ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.onnx.graph.values import axis_of, integers, namespace_of, on_host
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _sum(x: Any, axes: Any, keep: bool) -> Any:
    return namespace_of(x).sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _mean(x: Any, axes: Any, keep: bool) -> Any:
    found = namespace_of(x).mean(x, axis=axes, keepdims=keep)
    return found.astype(x.dtype, copy=False)


def _prod(x: Any, axes: Any, keep: bool) -> Any:
    return namespace_of(x).prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _extreme(name: str, lowest: bool) -> Callable[..., Any]:
    def function(x: Any, axes: Any, keep: bool) -> Any:
        if x.dtype.kind == "b":
            return function(x.astype("uint8", copy=False), axes, keep) != 0
        if 0 in x.shape:
            if x.dtype.kind == "f":
                start: Any = -np.inf if lowest else np.inf
            else:
                limits = np.iinfo(x.dtype)
                start = int(limits.min if lowest else limits.max)
            kept = [
                1 if at in axes else n for at, n in enumerate(x.shape) if keep or at not in axes
            ]
            return namespace_of(x).full(tuple(kept), start, dtype=x.dtype)
        return getattr(namespace_of(x), name)(x, axis=axes, keepdims=keep)

    return function


def _log_sum_exp(x: Any, axes: Any, keep: bool) -> Any:
    module = namespace_of(x)
    if 0 in x.shape:
        return module.log(_sum(module.exp(x), axes, keep))
    wide = x if x.dtype.kind == "f" else x.astype("float32", copy=False)
    most = module.max(wide, axis=axes, keepdims=True)
    most = module.where(module.isfinite(most), most, np.zeros((), wide.dtype).item())
    total = module.log(_sum(module.exp(wide - most), axes, True)) + most
    if not keep:
        kept = [n for at, n in enumerate(x.shape) if axes is not None and at not in axes]
        total = total.reshape(tuple(kept))
    return total.astype(x.dtype, copy=False)


def _sum_square(x: Any, axes: Any, keep: bool) -> Any:
    return _sum(x * x, axes, keep)


def _l2(x: Any, axes: Any, keep: bool) -> Any:
    module = namespace_of(x)
    wide = x if x.dtype.kind == "f" else x.astype("float32", copy=False)
    return module.sqrt(_sum_square(wide, axes, keep)).astype(x.dtype, copy=False)


def _l1(x: Any, axes: Any, keep: bool) -> Any:
    return _sum(namespace_of(x).abs(x), axes, keep)


def _log_sum(x: Any, axes: Any, keep: bool) -> Any:
    return namespace_of(x).log(_sum(x, axes, keep)).astype(x.dtype, copy=False)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceSum": _sum, "ReduceMean": _mean, "ReduceProd": _prod,
    "ReduceMax": _extreme("max", True), "ReduceMin": _extreme("min", False),
    "ReduceLogSumExp": _log_sum_exp, "ReduceSumSquare": _sum_square, "ReduceL2": _l2,
    "ReduceL1": _l1, "ReduceLogSum": _log_sum,
}  # fmt: skip


def _reduced(function: Callable[..., Any], x: Any, axes: Any, keep: int) -> Any:
    used = None if axes is None else tuple(axis_of(axis, x.ndim) for axis in axes)
    found = function(x, tuple(range(x.ndim)) if used is None else used, bool(keep))
    return np.asarray(found) if on_host(x) else found


def _of_attribute(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, *, axes: list[int] | None = None, keepdims: int = 1) -> Any:
        return _reduced(function, x, axes, keepdims)

    return call


def _of_input(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        used = None if axes is None or not axes.size else integers(axes)
        if used is None and noop_with_empty_axes:
            return _reduced(function, x, (), keepdims) if function in _NEED_CALL else x
        return _reduced(function, x, used, keepdims)

    return call


#: Reductions that change elements also where no axis is reduced.
_NEED_CALL = (_sum_square, _l1, _l2, _log_sum, _log_sum_exp)

for _name, _function in _FUNCTIONS.items():
    _since = 13 if _name == "ReduceSum" else 18
    operator(_name, until=_since - 1, folds=True)(_of_attribute(_function))
    operator(_name, since=_since, host=("axes",), folds=True)(_of_input(_function))


def _cumulative(x: Any, axis: Any, exclusive: int, reverse: int, name: str, start: int) -> Any:
    at = axis_of(int(np.asarray(axis).reshape(-1)[0]), x.ndim)
    if reverse:
        x = bg.flip(x, at)
    found = getattr(bg, name)(x, axis=at, dtype=x.dtype)
    if exclusive:
        shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
        first = bg.full(shape, start, dtype=x.dtype)
        kept = found[(*(slice(None),) * at, slice(0, max(x.shape[at] - 1, 0)))]
        found = bg.concatenate([first, kept], at)
    return bg.flip(found, at) if reverse else found


@operator("CumSum", since=11, host=("axis",))
def cumsum(x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
    """Return sums of the elements up to each one."""
    return _cumulative(x, axis, exclusive, reverse, "cumsum", 0)


@operator("CumProd", since=26, host=("axis",))
def cumprod(x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
    """Return products of the elements up to each one."""
    return _cumulative(x, axis, exclusive, reverse, "cumprod", 1)
