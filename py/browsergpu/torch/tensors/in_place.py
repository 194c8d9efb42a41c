"""Methods that change the tensor, with a final underscore."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import data_types
from browsergpu.torch.tensors import pointwise, products, reductions, sorting  # noqa: F401
from browsergpu.torch.tensors.indexing import in_place
from browsergpu.torch.tensors.public import FUNCTIONS, add_method
from browsergpu.torch.tensors.randoms import rng_of

for _name in [
    "abs",
    "add",
    "sub",
    "subtract",
    "mul",
    "multiply",
    "div",
    "divide",
    "pow",
    "remainder",
    "floor_divide",
    "fmod",
    "neg",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "sigmoid",
    "tanh",
    "relu",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "sign",
    "clamp",
    "clip",
    "clamp_min",
    "clamp_max",
    "lerp",
    "addcmul",
    "addcdiv",
    "nan_to_num",
    "erf",
    "erfinv",
    "logit",
    "maximum",
    "minimum",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "cumsum",
    "cumprod",
    "tril",
    "triu",
    "renorm",
]:
    if _name in FUNCTIONS:
        in_place(f"{_name}_", FUNCTIONS[_name])


def fill_(self: Any, value: Any) -> Any:
    """Assign a number to all elements."""
    self[...] = value
    return self


def zero_(self: Any) -> Any:
    """Assign 0 to all elements."""
    self[...] = 0
    return self


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Assign the elements of another tensor."""
    del non_blocking
    if isinstance(src, Array) and src.dtype != self.dtype:
        src = data_types.astype(src, self.dtype)
    self[...] = src
    return self


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Assign a number to the diagonal of a matrix."""
    from browsergpu.engine.core.above import ABOVE

    ABOVE.namespace.fill_diagonal(self, fill_value, wrap)
    return self


def _filled(name: str, draw: Any, kinds: str = "biuf") -> None:
    def method(self: Any, *args: Any, generator: Any = None, **options: Any) -> Any:
        if self.dtype.kind not in kinds:
            raise InvalidType(name, "self", self.dtype, "another dtype")
        found = draw(rng_of(generator), tuple(self.shape), *args, **options)
        self[...] = data_types.astype(found, self.dtype)
        return self

    method.__name__ = name
    method.__doc__ = f"Fill the tensor with random numbers, as PyTorch's ``{name}``."
    add_method(name, method)


_filled("normal_", lambda rng, size, mean=0, std=1: rng.standard_normal(size) * std + mean, "f")
_filled(
    "uniform_", lambda rng, size, a=0, b=1, **of: _between(rng, size, **{"a": a, "b": b, **of}), "f"
)
_filled("exponential_", lambda rng, size, lambd=1: rng.standard_exponential(size) / lambd, "f")
_filled("bernoulli_", lambda rng, size, p=0.5: rng.random(size) < p)


def random_(self: Any, low: Any = None, high: Any = None, *, generator: Any = None) -> Any:
    """Fill the tensor with random integers: below a limit, between two, or all that it can hold."""
    rng, size = rng_of(generator), tuple(self.shape)
    if self.dtype.kind == "c":
        raise InvalidType("random_", "self", self.dtype, "an integer, float or bool dtype")
    if low is None and self.dtype.kind in "iu" and self.dtype.itemsize == 8:
        upper = data_types.astype(rng.integers(0, 2**31, size), self.dtype)
        lower = data_types.astype(rng.integers(0, 2**32, size, dtype="uint32"), self.dtype)
        self[...] = upper * 2**32 + lower
        return self
    if low is None:
        low, high = 0, _most(self.dtype) + 1
    elif high is None:
        low, high = 0, low
    kind = "uint32" if high > 2**31 else "int64"
    self[...] = data_types.astype(rng.integers(low, high, size, dtype=kind), self.dtype)
    return self


def _most(dtype: Any) -> int:
    """Return the largest integer up to which a dtype has all integers."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    return 1 if dtype.kind == "b" else 2 ** (np.finfo(dtype).nmant + 1)


def _between(rng: Any, size: Any, a: float, b: float, **also: float) -> Any:
    low, high = also.get("from", a), also.get("to", b)
    return rng.random(size) * (high - low) + low


def _transposed(self: Any, name: str, *args: Any) -> Any:
    from browsergpu.arrays.value import NODE
    from browsergpu.arrays.views.aliases import take_node

    found = getattr(self, name)(*args)
    take_node(self, NODE.__get__(found))
    return self


for _name in ("squeeze", "unsqueeze", "t", "transpose"):

    def _shaped(self: Any, *args: Any, _of: str = _name) -> Any:
        return _transposed(self, _of, *args)

    _shaped.__doc__ = f"Apply ``{_name}`` to the tensor itself."
    add_method(f"{_name}_", _shaped)

for _method in (random_, fill_, zero_, copy_, fill_diagonal_):
    add_method(_method.__name__, _method)
