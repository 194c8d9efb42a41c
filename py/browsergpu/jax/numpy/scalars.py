"""``jnp.float32`` and the like: dtypes that can be called."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.jax.numpy.creation import asarray


class _ScalarMeta(type):
    """The class of ``jnp.float32`` and the like: a dtype, and a function that makes an array."""

    dtype: np.dtype[Any]

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        try:
            return bool(np.dtype(other) == cls.dtype)  # type: ignore[call-overload]
        except TypeError:
            return False

    def __ne__(cls, other: object) -> bool:
        return not cls == other

    def __call__(cls, x: Any = 0) -> Any:
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'jax.numpy.{cls.dtype.name}'>"


def _scalar(name: str) -> Any:
    return _ScalarMeta(name, (), {"dtype": np.dtype(name), "__doc__": f"The dtype {name}."})


NAMES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
#: The public names of dtypes.
SCALARS: dict[str, Any] = {name: _scalar(name) for name in NAMES}
SCALARS["bool_"] = _scalar("bool")
SCALARS |= {
    "int_": SCALARS["int32"], "uint": SCALARS["uint32"], "float_": SCALARS["float32"],
    "complex_": SCALARS["complex64"], "single": SCALARS["float32"], "double": SCALARS["float64"],
    "csingle": SCALARS["complex64"], "cdouble": SCALARS["complex128"], "bool": SCALARS["bool_"],
}  # fmt: skip
