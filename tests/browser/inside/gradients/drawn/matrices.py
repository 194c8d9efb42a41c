"""Calls of products, of linear algebra and of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from inside.gradients.cases import adjoint
from inside.gradients.drawn.directions import Call
from inside.gradients.drawn.operands import (
    NUMBERS,
    REAL,
    Draw,
    Shape,
    axes_of,
    axis_of,
    broadcast_shapes,
    chance,
    different,
    numbers,
    seen,
    shapes,
)
from inside.gradients.drawn.table import Table, entry

MATRICES: Table = {}
_KINDS = ("f4", "c8")
_LEADS: tuple[Shape, ...] = ((), (2,), (2, 1), (0,))
_PAIRS = (("f4", "f4"), ("c8", "c8"), ("f2", "f2"), ("f4", "c8"), ("f2", "f4"))


def spaced(draw: Draw, lead: Shape, rows: int, columns: int, kind: str) -> np.ndarray:
    """Draw matrices whose singular values and eigenvalues differ by 0.3 at least, also from 0.

    They have 1, 2.3, 3.6 ... on the diagonal, and small numbers elsewhere.
    """
    rng = chance(draw)
    found = rng.uniform(-0.15, 0.15, (*lead, rows, columns)) + 0j
    if kind == "c8":
        found += 1j * rng.uniform(-0.1, 0.1, found.shape)
    for n in range(min(rows, columns)):
        found[..., n, n] += 1 + 1.3 * n
    return (found if kind == "c8" else found.real).astype(kind)


def _square(draw: Draw, kinds: tuple[str, ...] = (*_KINDS, "f2")) -> Any:
    """Draw a view of square matrices."""
    n, lead = draw(st.sampled_from((2, 3, 1, 4))), draw(st.sampled_from(_LEADS))
    kind = draw(st.sampled_from(kinds))
    target = spaced(draw, lead, n, n, kind)[..., draw(st.permutations(range(n))), :]
    return seen(draw, target, repeats=False)


def _oblong(draw: Draw, kinds: tuple[str, ...] = (*_KINDS, "f2")) -> Any:
    rows, columns = (draw(st.integers(1, 4)) for _ in range(2))
    lead, kind = draw(st.sampled_from(_LEADS)), draw(st.sampled_from(kinds))
    return seen(draw, spaced(draw, lead, rows, columns, kind), repeats=False)


# -- products --------------------------------------------------------------------------------------


@entry(MATRICES, "matmul")
def _(draw: Draw, name: str) -> Call:
    """Vectors, matrices and broadcast stacks of matrices; axes may be empty."""
    rows, inner, columns = (draw(st.sampled_from((2, 3, 1, 4, 0))) for _ in range(3))
    left, right = broadcast_shapes(draw, 2, most=2)
    form = draw(st.sampled_from(("matrices", "row", "column", "vectors")))
    shape = {"row": (inner,), "vectors": (inner,)}.get(form, (*left, rows, inner))
    other = {"column": (inner,), "vectors": (inner,)}.get(form, (*right, inner, columns))
    kinds = draw(st.sampled_from(_PAIRS))
    own = [seen(draw, numbers(draw, s, k)) for s, k in zip((shape, other), kinds, strict=True)]
    return Call(own, lambda bg, x, y: bg.matmul(x, y), np.matmul)


@entry(MATRICES, "vecdot")
def _(draw: Draw, name: str) -> Call:
    left, right = broadcast_shapes(draw, 2, most=2)
    n, kinds = draw(st.integers(0, 4)), draw(st.sampled_from(_PAIRS))
    own = [seen(draw, numbers(draw, (*s, n), k))
           for s, k in zip((left, right), kinds, strict=True)]  # fmt: skip
    return Call(own, lambda bg, x, y: bg.vecdot(x, y), lambda x, y: (x.conj() * y).sum(-1))


@entry(MATRICES, "linalg.cross")
def _(draw: Draw, name: str) -> Call:
    left, right = broadcast_shapes(draw, 2, most=2)
    kinds = draw(st.sampled_from(_PAIRS))
    own = [seen(draw, numbers(draw, (*s, 3), k))
           for s, k in zip((left, right), kinds, strict=True)]  # fmt: skip
    if draw(st.booleans()):
        return Call(own, lambda bg, x, y: bg.linalg.cross(x, y), np.cross)
    rank = max(len(left), len(right))
    axis = draw(st.integers(0, rank))

    def turned(x: Any, module: Any) -> Any:
        """Return the operand with as many axes as the other, and its vectors along the axis."""
        return module.moveaxis(x[(None,) * (rank + 1 - x.ndim)], -1, axis)

    return Call(
        own, lambda bg, x, y: bg.linalg.cross(turned(x, bg), turned(y, bg), axis=axis),
        lambda x, y: np.cross(turned(x, np), turned(y, np), axis=axis),
    )  # fmt: skip


@entry(MATRICES, "linalg.diagonal", "linalg.trace")
def _(draw: Draw, name: str) -> Call:
    x = seen(draw, numbers(draw, shapes(draw, least=2), draw(st.sampled_from(NUMBERS))))
    offset = draw(st.integers(-4, 4))
    of = np.diagonal if name.endswith("diagonal") else np.trace
    function = name.partition(".")[2]
    return Call(
        [x], lambda bg, v: getattr(bg.linalg, function)(v, offset=offset),
        lambda v: of(v, offset, -2, -1) + 0,
    )  # fmt: skip


@entry(MATRICES, "linalg.outer")
def _(draw: Draw, name: str) -> Call:
    own = [seen(draw, numbers(draw, shapes(draw, least=1, most=1), kind))
           for kind in draw(st.sampled_from(_PAIRS))]  # fmt: skip
    return Call(own, lambda bg, x, y: bg.linalg.outer(x, y), np.outer)


@entry(MATRICES, "tensordot")
def _(draw: Draw, name: str) -> Call:
    a, b, c, d = (draw(st.sampled_from((2, 3, 1, 0))) for _ in range(4))
    axes, first, second = draw(st.sampled_from((
        (1, (a, b), (b, c)), (2, (a, b, c), (b, c, d)), (0, (a,), (b,)),
        (([0, -1], [1, 0]), (a, b, c), (c, a, d)), (([1], [-1]), (a, b), (c, b)),
    )))  # fmt: skip
    kinds = draw(st.sampled_from(_PAIRS))
    own = [seen(draw, numbers(draw, s, k)) for s, k in zip((first, second), kinds, strict=True)]
    return Call(
        own, lambda bg, x, y: bg.tensordot(x, y, axes=axes),
        lambda x, y: np.tensordot(x, y, axes=axes),
    )  # fmt: skip


@entry(MATRICES, "einsum")
def _(draw: Draw, name: str) -> Call:
    text = draw(st.sampled_from((
        "ij,jk->ik", "ii->i", "ii", "iij,j->i", "ij->", "ij->j", "ij,k->k", "...i,i...->...",
        "ij,jk,kl->il", "ij,ij->ij", "ji,kj->ik", "i,i->", "bij,bjk->bik", "i,j,k->kji",
    )))  # fmt: skip
    extents = {letter: draw(st.integers(1, 3)) for letter in "bijkl"}
    kind, own = draw(st.sampled_from(NUMBERS)), []
    for part in text.partition("->")[0].split(","):
        shape = [extents[n] for n in part.replace("...", "")]
        if "..." in part:
            shape = [*shape, 3] if part.startswith("i") else [3, *shape]
        own.append(seen(draw, numbers(draw, tuple(shape), kind)))
    return Call(own, lambda bg, *v: bg.einsum(text, *v), lambda *v: np.einsum(text, *v) + 0)


# -- equations -------------------------------------------------------------------------------------


@entry(MATRICES, "linalg.inv", "linalg.det")
def _(draw: Draw, name: str) -> Call:
    function = name.partition(".")[2]
    return Call(
        [_square(draw)], lambda bg, v: getattr(bg.linalg, function)(v),
        getattr(np.linalg, function),
    )  # fmt: skip


@entry(MATRICES, "linalg.slogdet")
def _(draw: Draw, name: str) -> Call:
    x = _square(draw)
    return Call([x], lambda bg, v: bg.linalg.slogdet(v), lambda v: tuple(np.linalg.slogdet(v)))


@entry(MATRICES, "linalg.matrix_power")
def _(draw: Draw, name: str) -> Call:
    x, n = _square(draw, _KINDS), draw(st.integers(-2, 3))
    return Call(
        [x], lambda bg, v: bg.linalg.matrix_power(v, n), lambda v: np.linalg.matrix_power(v, n)
    )


@entry(MATRICES, "linalg.solve")
def _(draw: Draw, name: str) -> Call:
    left, right = broadcast_shapes(draw, 2, most=2)
    n, width = draw(st.sampled_from((2, 3, 1, 4))), draw(st.integers(0, 3))
    kinds = draw(st.sampled_from(_PAIRS))
    a = seen(draw, spaced(draw, left, n, n, kinds[0]), repeats=False)
    is_vector = draw(st.booleans())
    b = seen(draw, numbers(draw, (n,) if is_vector else (*right, n, width), kinds[1]))

    def theirs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if not is_vector:
            return np.linalg.solve(x, y)
        return np.linalg.solve(x, np.broadcast_to(y[:, None], (*x.shape[:-1], 1)))[..., 0]

    return Call([a, b], lambda bg, x, y: bg.linalg.solve(x, y), theirs)


# -- decompositions --------------------------------------------------------------------------------
# Signs and phases of vectors are no one's to say: their sizes are compared.


def _turned(module: Any, x: Any) -> Any:
    """Return the adjoint; NumPy 1 has no matrix_transpose."""
    return adjoint(x) if module is np else module.conj(module.matrix_transpose(x))


def _hermitian(module: Any, x: Any) -> Any:
    return (x + _turned(module, x)) * 0.5


def _sizes(module: Any, x: Any) -> Any:
    """Return squares of absolute values, which have no kink at 0."""
    return module.real(x * module.conj(x))


def _cubes(module: Any, x: Any) -> list[Any]:
    """Return sums of powers of eigenvalues, which do not depend on their order."""
    return [module.sum(x**n, axis=-1) for n in (1, 2, 3)]


@entry(MATRICES, "linalg.cholesky")
def _(draw: Draw, name: str) -> Call:
    x, upper = _square(draw), draw(st.booleans())

    def positive(module: Any, v: Any) -> Any:
        return v @ _turned(module, v) * 0.5 + module.eye(v.shape[-1], dtype=v.dtype)

    def theirs(v: np.ndarray) -> np.ndarray:
        found = np.linalg.cholesky(positive(np, v))
        return adjoint(found) if upper else found

    return Call([x], lambda bg, v: bg.linalg.cholesky(positive(bg, v), upper=upper), theirs)


@entry(MATRICES, "linalg.qr")
def _(draw: Draw, name: str) -> Call:
    x = _oblong(draw)
    return Call(
        [x], lambda bg, v: [_sizes(bg, part) for part in bg.linalg.qr(v)],
        lambda v: [_sizes(np, part) for part in np.linalg.qr(v)],
    )  # fmt: skip


@entry(MATRICES, "linalg.svd")
def _(draw: Draw, name: str) -> Call:
    """Compare U Vh, whose sign is unique, the values, and the magnitudes of vectors.

    U and Vh are compared entirely where the matrix determines them.
    """
    x = _oblong(draw)
    rows, columns = x.seen(np, x.base).shape[-2:]
    whole = rows == columns and draw(st.booleans())

    def parts(module: Any, v: Any) -> list[Any]:
        u, s, vh = module.linalg.svd(v, full_matrices=whole)
        return [u @ vh, s, _sizes(module, u), _sizes(module, vh)]

    return Call([x], parts, lambda v: parts(np, v))


@entry(MATRICES, "linalg.svdvals")
def _(draw: Draw, name: str) -> Call:
    return Call(
        [_oblong(draw)], lambda bg, v: bg.linalg.svdvals(v),
        lambda v: np.linalg.svd(v, compute_uv=False),
    )  # fmt: skip


@entry(MATRICES, "linalg.pinv")
def _(draw: Draw, name: str) -> Call:
    return Call([_oblong(draw)], lambda bg, v: bg.linalg.pinv(v), np.linalg.pinv)


@entry(MATRICES, "linalg.eigh")
def _(draw: Draw, name: str) -> Call:
    def parts(module: Any, v: Any) -> list[Any]:
        values, vectors = module.linalg.eigh(_hermitian(module, v))
        return [values, _sizes(module, vectors)]

    return Call([_spread(draw)], parts, lambda v: parts(np, v))


def _spread(draw: Draw, kinds: tuple[str, ...] = (*_KINDS, "f2")) -> Any:
    """Draw square matrices with different eigenvalues."""
    n, lead = draw(st.sampled_from((2, 3, 1, 4))), draw(st.sampled_from(_LEADS))
    return seen(draw, spaced(draw, lead, n, n, draw(st.sampled_from(kinds))), repeats=False)


@entry(MATRICES, "linalg.eigvalsh")
def _(draw: Draw, name: str) -> Call:
    return Call(
        [_spread(draw)], lambda bg, v: bg.linalg.eigvalsh(_hermitian(bg, v)),
        lambda v: np.linalg.eigvalsh(_hermitian(np, v)),
    )  # fmt: skip


@entry(MATRICES, "linalg.eigvals")
def _(draw: Draw, name: str) -> Call:
    return Call(
        [_spread(draw)], lambda bg, v: _cubes(bg, bg.linalg.eigvals(v)),
        lambda v: _cubes(np, np.linalg.eigvals(v) + 0j),
    )  # fmt: skip


@entry(MATRICES, "linalg.eig")
def _(draw: Draw, name: str) -> Call:
    """Sum the magnitudes of vectors times their values, so that the order does not matter."""

    def parts(module: Any, v: Any) -> list[Any]:
        values, vectors = module.linalg.eig(v)
        sizes = _sizes(module, vectors)
        return [*_cubes(module, values), (sizes * values[..., None, :]).sum(axis=-1)]

    return Call([_spread(draw)], parts, lambda v: parts(np, v + 0j))


# -- norms -----------------------------------------------------------------------------------------


@entry(MATRICES, "linalg.vector_norm")
def _(draw: Draw, name: str) -> Call:
    """Elements with different magnitudes other than 0."""
    shape = shapes(draw, extents=(2, 3, 1, 4))
    axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
    order = draw(st.sampled_from((2, 1, 3, 0.5, -1, np.inf, -np.inf, 0, 4)))
    x = seen(draw, different(draw, shape, draw(st.sampled_from(NUMBERS))), repeats=False)

    def theirs(v: np.ndarray) -> np.ndarray:
        sizes, where = np.abs(v), {"axis": axis, "keepdims": keepdims}
        if order in (np.inf, -np.inf):
            return (np.max if order > 0 else np.min)(sizes, **where)
        return np.sum(sizes**order, **where) ** (1 / order) if order else 0 * np.sum(sizes, **where)

    return Call(
        [x], lambda bg, v: bg.linalg.vector_norm(v, axis=axis, keepdims=keepdims, ord=order), theirs
    )


@entry(MATRICES, "linalg.matrix_norm")
def _(draw: Draw, name: str) -> Call:
    """Matrices with different sums of rows and columns."""
    x = _oblong(draw, _KINDS)
    order = draw(st.sampled_from(("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)))
    keepdims = draw(st.booleans())
    return Call(
        [x], lambda bg, v: bg.linalg.matrix_norm(v, ord=order, keepdims=keepdims),
        lambda v: np.linalg.norm(v, order, axis=(-2, -1), keepdims=keepdims),
    )  # fmt: skip


# -- transforms ------------------------------------------------------------------------------------

_NORMS = st.sampled_from(("backward", "ortho", "forward"))
_OF_ONE_AXIS: dict[str, tuple[str, ...]] = {
    "fft": NUMBERS, "ifft": NUMBERS, "rfft": REAL, "irfft": NUMBERS, "hfft": NUMBERS, "ihfft": REAL,
}  # fmt: skip


@entry(MATRICES, *(f"fft.{name}" for name in _OF_ONE_AXIS))
def _(draw: Draw, name: str) -> Call:
    function = name.partition(".")[2]
    shape = shapes(draw, least=1, most=3, extents=(3, 4, 2, 5))
    axis, norm = axis_of(draw, len(shape)), draw(_NORMS)
    n = draw(st.sampled_from((None, 3, 6, 2, 1)))
    x = seen(draw, numbers(draw, shape, draw(st.sampled_from(_OF_ONE_AXIS[function]))))
    return Call(
        [x], lambda bg, v: getattr(bg.fft, function)(v, n=n, axis=axis, norm=norm),
        lambda v: getattr(np.fft, function)(v, n=n, axis=axis, norm=norm),
    )  # fmt: skip


@entry(MATRICES, "fft.fftn", "fft.ifftn", "fft.rfftn", "fft.irfftn")
def _(draw: Draw, name: str) -> Call:
    function = name.partition(".")[2]
    shape = shapes(draw, least=2, most=3, extents=(3, 4, 2))
    axes = tuple(draw(st.permutations(range(len(shape))))[:2]) if draw(st.booleans()) else None
    lengths = None
    if axes and draw(st.booleans()):
        lengths = tuple(draw(st.integers(2, 4)) for _ in axes)
    kinds = REAL if function == "rfftn" else NUMBERS
    x, norm = seen(draw, numbers(draw, shape, draw(st.sampled_from(kinds)))), draw(_NORMS)
    return Call(
        [x], lambda bg, v: getattr(bg.fft, function)(v, s=lengths, axes=axes, norm=norm),
        lambda v: getattr(np.fft, function)(v, s=lengths, axes=axes, norm=norm),
    )  # fmt: skip


@entry(MATRICES, "fft.fftshift", "fft.ifftshift")
def _(draw: Draw, name: str) -> Call:
    function: str = name.partition(".")[2]
    shape = shapes(draw, least=1)  # NumPy cannot shift an array without axes
    axes = axes_of(draw, len(shape))
    theirs: Callable[..., Any] = getattr(np.fft, function)
    x = seen(draw, numbers(draw, shape, draw(st.sampled_from(NUMBERS))))
    return Call(
        [x], lambda bg, v: getattr(bg.fft, function)(v, axes=axes), lambda v: theirs(v, axes=axes)
    )
