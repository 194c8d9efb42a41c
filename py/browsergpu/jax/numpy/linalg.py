"""``jax.numpy.linalg``."""

from __future__ import annotations

from typing import Any

from browsergpu.functions.elementwise import conj
from browsergpu.functions.manipulation import matrix_transpose
from browsergpu.jax.arrays.operands import inexact
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import FUNCTIONS as _ALL

_NAMES = (
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
)  # fmt: skip
__all__ = list(_NAMES)


def _function(name: str) -> Any:
    call = wrappers.general(f"linalg.{name}")

    def of_floats(a: Any, *args: Any, **options: Any) -> Any:
        given = a if isinstance(a, list | tuple) else inexact(name, a, "a")
        rest = [inexact(name, x) if hasattr(x, "dtype") else x for x in args]
        return call(given, *rest, **options)

    of_floats.__name__ = of_floats.__qualname__ = name
    of_floats.__doc__ = f"Return ``jnp.linalg.{name}``. Integers become float32."
    return of_floats


for _name in _NAMES:
    globals()[_name] = _function(_name)
for _name in ("cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"):
    globals()[_name] = _ALL[_name]


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of matrices."""
    return _ALL["diagonal"](x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums of the diagonals of matrices."""
    return _ALL["trace"](x, offset, -2, -1, dtype)


def _symmetrized(x: Any) -> Any:
    own = matrix_transpose(x)
    return (x + (conj(own) if x.dtype.kind == "c" else own)) / 2


def _of_symmetric(name: str) -> Any:
    own = wrappers.general(f"linalg.{name}")

    def call(
        a: Any, UPLO: str | None = None, symmetrize_input: bool | None = None, **options: Any
    ) -> Any:
        x = inexact(name, a, "a")
        if symmetrize_input is not False:
            x = _symmetrized(x)
        return own(x, **({} if UPLO is None else {"UPLO": UPLO}), **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.linalg.{name}`` of a symmetric matrix."
    return call


eigh, eigvalsh = _of_symmetric("eigh"), _of_symmetric("eigvalsh")
_cholesky = wrappers.general("linalg.cholesky")


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Return the Cholesky factor of a positive definite matrix."""
    x = inexact("cholesky", a, "a")
    return _cholesky(_symmetrized(x) if symmetrize_input else x, upper=upper)
