"""PyTorch's names of dtypes, which are NumPy's dtypes, and its rules of promotion."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.functions import data_types
from browsergpu.torch.tensors.public import public


class MissingType:
    """The name of a dtype that WebGPU has not. It can be compared, and makes no tensor."""

    is_floating_point = True
    is_complex = False

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


DTYPES: dict[str, Any] = {
    name: np.dtype(of)
    for name, of in {
        "float16": "f2", "half": "f2", "float32": "f4", "float": "f4", "float64": "f8",
        "double": "f8", "complex64": "c8", "cfloat": "c8", "complex128": "c16", "cdouble": "c16",
        "int8": "i1", "int16": "i2", "short": "i2", "int32": "i4", "int": "i4", "int64": "i8",
        "long": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8", "bool": "?",
    }.items()
}  # fmt: skip
DTYPES["bfloat16"] = MissingType("bfloat16")
FLOAT32, INT64, BOOL = DTYPES["float32"], DTYPES["int64"], DTYPES["bool"]

_default = [FLOAT32]
#: Names of the legacy classes, as ``x.type("torch.FloatTensor")``.
_CLASSES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8",
    "ByteTensor": "uint8", "BoolTensor": "bool",
}  # fmt: skip
CLASS_OF = {np.dtype(name): kind for kind, name in _CLASSES.items()}


def dtype_of(op: str, dtype: Any) -> Any:
    """Return a dtype, or None for None. Raises Unsupported for a dtype that WebGPU has not."""
    if dtype is None or type(dtype) is np.dtype or isinstance(dtype, np.dtype):
        return dtype
    if isinstance(dtype, MissingType):
        raise Unsupported(op, f"WebGPU has no {dtype.name}. Use torch.float16 or torch.float32.")
    if dtype in (float, int, bool, complex):
        return {float: _default[0], int: INT64, bool: BOOL, complex: DTYPES["complex64"]}[dtype]
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.").removeprefix("cuda.")
        found = DTYPES.get(_CLASSES.get(name, name))
        if isinstance(found, np.dtype):
            return found
    raise InvalidType(op, "dtype", dtype, "a dtype such as torch.float32")


def default_float() -> Any:
    """Return the default dtype of floats."""
    return _default[0]


@public(method=False)
def get_default_dtype() -> Any:
    """Return the dtype of floats without one."""
    return _default[0]


@public(method=False)
def set_default_dtype(d: Any) -> None:
    """Set the dtype of floats without one: float32 or float16."""
    found = dtype_of("set_default_dtype", d)
    if found not in (FLOAT32, DTYPES["float16"]):
        raise InvalidArgument("set_default_dtype", "d", d, "torch.float32 or torch.float16")
    _default[0] = found


_CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


@cache
def promoted(a: Any, a_has_axes: bool, b: Any, b_has_axes: bool) -> Any:
    """Return the dtype of an operation. Tensors without axes only count by their category."""
    of_a, of_b = _CATEGORY[a.kind], _CATEGORY[b.kind]
    if of_a != of_b:
        if a_has_axes == b_has_axes or (of_a > of_b) == a_has_axes:
            return a if of_a > of_b else b
        return b if of_b > of_a else a
    if a_has_axes != b_has_axes:
        return a if a_has_axes else b
    return np.promote_types(a, b)


def operands(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands in their common dtype, by PyTorch's rules."""
    if isinstance(a, Array) and isinstance(b, Array):
        try:
            if NODE.__get__(a).kind is NODE.__get__(b).kind:
                return a, b
        except AttributeError:  # tensors of vmap have no node
            pass
        own, theirs = a.dtype, b.dtype
        if own != theirs:
            to = promoted(own, bool(a.ndim), theirs, bool(b.ndim))
            of: Any = data_types.astype
            return (
                a if own == to else of(a, to),
                b if theirs == to else of(b, to),
            )
    return a, b


def _dtype(x: Any) -> Any:
    return x if isinstance(x, np.dtype) else x.dtype if isinstance(x, Array) else np.dtype(type(x))


def _kind_of(number: Any) -> Any:
    return np.dtype(dtype_of("result_type", type(number)))


@public(method=False)
def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Return the dtype of an operation on two tensors or numbers."""
    if not isinstance(tensor1, Array) and not isinstance(tensor2, Array):
        return promoted(*(one for x in (tensor1, tensor2) for one in (_kind_of(x), False)))
    if not isinstance(tensor1, Array) or not isinstance(tensor2, Array):
        return data_types.result_type(tensor1, tensor2)
    return promoted(tensor1.dtype, bool(tensor1.shape), tensor2.dtype, bool(tensor2.shape))


@public(method=False)
def promote_types(type1: Any, type2: Any) -> Any:
    """Return the smallest dtype that both dtypes convert to."""
    return promoted(type1, True, type2, True)


@public(method=False)
def can_cast(from_: Any, to: Any) -> bool:
    """Return whether a dtype converts to another without a lower category."""
    return _CATEGORY[from_.kind] <= _CATEGORY[to.kind]


@public()
def is_floating_point(input: Any) -> bool:
    """Return whether the dtype is a float."""
    return bool(_dtype(input).kind == "f")


@public()
def is_complex(input: Any) -> bool:
    """Return whether the dtype is complex."""
    return bool(_dtype(input).kind == "c")


@public(method=False)
def finfo(type: Any = None) -> Any:
    """Return the limits of a float dtype."""
    found = data_types.finfo(dtype_of("finfo", type) or _default[0])
    found.tiny = found.smallest_normal
    found.resolution = float(np.finfo(found.dtype).resolution)
    found.dtype = found.dtype.name
    return found


@public(method=False)
def iinfo(type: Any) -> Any:
    """Return the limits of an integer dtype."""
    found = data_types.iinfo(dtype_of("iinfo", type))
    found.dtype = found.dtype.name
    return found
