"""Functions of tensors that consist of a few others."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import elementwise, manipulation, parts, special
from browsergpu.functions.linalg import decompositions, norms
from browsergpu.functions.nn import activations
from browsergpu.functions.ordering import sorting
from browsergpu.torch.tensors.dtypes import dtype_of
from browsergpu.torch.tensors.pointwise import floats
from browsergpu.torch.tensors.public import public


class _Svd(NamedTuple):
    U: Any
    S: Any
    V: Any


@public(out=False)
def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """Return U, S and V with ``input = U @ diag(S) @ V.mH``. linalg.svd returns V.mH."""
    if not compute_uv:
        advice = "torch.linalg.svdvals returns S alone."
        raise InvalidArgument("svd", "compute_uv", compute_uv, "True", advice)
    u, s, vh = decompositions.svd(input, full_matrices=not some)
    return _Svd(u, s, elementwise.conj(manipulation.matrix_transpose(vh)))


@public(out=False)
def qr(input: Any, some: bool = True) -> Any:
    """Return an orthogonal and a triangular factor, reduced or whole."""
    return decompositions.qr(input, mode="reduced" if some else "complete")


@public(out=False)
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the exponentials over their sum along an axis."""
    return activations.softmax(input, dim, dtype=dtype_of("softmax", dtype))


@public(out=False)
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of :func:`softmax`."""
    return activations.log_softmax(input, dim, dtype=dtype_of("log_softmax", dtype))


@public()
def corrcoef(input: Any) -> Any:
    """Return the correlation coefficients of the rows."""
    return ABOVE.namespace.corrcoef(input)


def _at_least(name: str) -> None:
    def function(*tensors: Any) -> Any:
        own = getattr(ABOVE.namespace, name)
        if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
            return own(tensors[0])
        return tuple([own(x) for x in (tensors[0] if len(tensors) == 1 else tensors)])

    function.__name__ = name
    function.__doc__ = f"Return tensors with at least {name[-2]} axes."
    public(name, method=False, out=False)(function)


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _at_least(_name)


def _split(name: str) -> None:
    def function(input: Any, indices_or_sections: Any) -> Any:
        return tuple(getattr(ABOVE.namespace, name)(input, indices_or_sections))

    function.__name__ = name
    function.__doc__ = f"Return the parts of a tensor, as ``torch.{name}``."
    public(name, out=False)(function)


for _name in ("hsplit", "vsplit", "dsplit"):
    _split(_name)


@public()
def diagflat(input: Any, offset: int = 0) -> Any:
    """Return a matrix with all elements on a diagonal."""
    return ABOVE.namespace.diagflat(input, offset)


@public()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariances of the rows."""
    return ABOVE.namespace.cov(input, ddof=correction, fweights=fweights, aweights=aweights)


@public(method=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of the elements, in columns."""
    return ABOVE.namespace.vander(x, N, increasing)


@public(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1, dim: int = -1) -> Any:
    """Return the integrals from the first element to each other one, by trapezoids."""
    own = manipulation.moveaxis(y, dim, -1)
    width = dx
    if x is not None:
        places = manipulation.moveaxis(x, dim, -1) if x.ndim > 1 else x
        width = places[..., 1:] - places[..., :-1]
    areas = (own[..., 1:] + own[..., :-1]) * 0.5 * width
    return manipulation.moveaxis(sorting.cumulative_sum(areas, axis=-1), -1, dim)


@public("logdet")
def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant, NaN for a negative determinant."""
    sign, found = ABOVE.namespace.linalg.slogdet(input)
    return elementwise.where(elementwise.less(sign, 0), math.nan, found)


@public("mvlgamma", "multigammaln")
def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the multivariate gamma function."""
    count = checks.integer("mvlgamma", "p", p, 1)
    x = floats(input)
    found = special.gammaln(x) + count * (count - 1) / 4 * math.log(math.pi)
    for n in range(1, count):
        found = found + special.gammaln(x - n / 2)
    return found


@public(method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """Return the distances between each two rows."""
    if input.ndim != 2:
        raise InvalidArgument("pdist", "input", input, "have shape [N, M]")
    first, second = np.triu_indices(input.shape[0], 1)
    return norms.vector_norm(input[first] - input[second], axis=-1, ord=p)


@public("put", function=False)
def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return a copy with elements at flat indices replaced, or added to."""
    flat = manipulation.reshape(self, (-1,))
    own, given = manipulation.reshape(index, (-1,)), manipulation.reshape(source, (-1,))
    change = parts.added_at if accumulate else parts.assigned
    return manipulation.reshape(change(flat, own, given), tuple(self.shape))


@public(method=False)
def chain_matmul(*matrices: Any) -> Any:
    """Return the product of matrices."""
    return ABOVE.namespace.linalg.multi_dot(list(matrices))
