"""Test cases for gradients of functions: calls, NumPy's results, and arrays.

Elementwise functions have their own file, ``test_elementwise.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Function = Callable[..., Any]


class Case(NamedTuple):
    """``ours(bg, *arrays)`` and the expected ``theirs(*arrays)``.

    ``twice``: whether to test second gradients.
    """

    ours: Function
    theirs: Function
    arrays: Sequence[np.ndarray]
    twice: bool = True


CASES: dict[str, list[Case]] = {}


def case(
    name: str, ours: Function, theirs: Function, *shapes: tuple[int, ...] | np.ndarray,
    of: str = "f", twice: bool = True,
) -> None:  # fmt: skip
    """Add a case for arrays or random arrays of shapes: real ("f"), complex ("c") or both."""
    for kind in of:
        arrays = [
            x if isinstance(x, np.ndarray) else numbers(x, kind, n) for n, x in enumerate(shapes)
        ]
        CASES.setdefault(name, []).append(Case(ours, theirs, arrays, twice and kind == "f"))


def numbers(shape: tuple[int, ...], kind: str, seed: int) -> np.ndarray:
    """Return random numbers. Square matrices, the last two axes, are far from singular."""
    rng = np.random.default_rng(seed)
    real, imag = rng.uniform(-2, 2, shape), rng.uniform(-2, 2, shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        real += 3 * np.eye(shape[-1])
    return (real + 1j * imag).astype(np.complex64) if kind == "c" else real.astype(np.float32)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2).conj()


def _hermitian(bg: Any, x: Any) -> Any:
    """Return positive definite matrices made from any matrices."""
    return x @ bg.conj(bg.matrix_transpose(x)) + bg.eye(x.shape[-1], dtype=x.dtype)


def _their_hermitian(x: np.ndarray) -> np.ndarray:
    return x @ adjoint(x) + np.eye(x.shape[-1])


def _squared(x: Any) -> Any:
    return x * x


# -- statistics ------------------------------------------------------------------------------------

for _name in ("sum", "prod", "mean", "max", "min", "var", "std"):
    for _options in ({"axis": 1}, {"axis": (0, -1), "keepdims": True}):
        case(
            _name,
            lambda bg, x, f=_name, o=_options: _squared(getattr(bg, f)(x, **o)),
            lambda x, f=_name, o=_options: _squared(getattr(np, f)(x, **o)),
            (2, 3, 2),
            twice=_options == {"axis": 1},
        )
case("prod", lambda bg, x: bg.prod(x), np.prod, np.float32([2, 0, 3, 0]))
case("prod", lambda bg, x: bg.prod(x, axis=0), lambda x: np.prod(x, axis=0), (3, 2), of="c")
case("sum", lambda bg, x: bg.sum(x), np.sum, (2, 2), of="c")
case("mean", lambda bg, x: bg.mean(x, axis=0), lambda x: x.mean(0), (2, 2), of="c")
case(
    "var", lambda bg, x: bg.var(x, axis=0, correction=1), lambda x: np.var(x, axis=0, ddof=1),
    (3, 2),
)  # fmt: skip

# -- shapes ----------------------------------------------------------------------------------------

for _name, _ours, _theirs, _shape in (
    ("broadcast_to", lambda bg, x: bg.broadcast_to(x, (2, 3, 2)),
     lambda x: np.broadcast_to(x, (2, 3, 2)), (3, 1)),
    ("expand_dims", lambda bg, x: bg.expand_dims(x, axis=(0, -1)),
     lambda x: np.expand_dims(x, (0, -1)), (2, 3)),
    ("flip", lambda bg, x: bg.flip(x, axis=1), lambda x: np.flip(x, 1), (2, 3)),
    ("matrix_transpose", lambda bg, x: bg.matrix_transpose(x), lambda x: np.swapaxes(x, -1, -2),
     (2, 1, 3)),
    ("linalg.matrix_transpose", lambda bg, x: bg.linalg.matrix_transpose(x),
     lambda x: np.swapaxes(x, -1, -2), (2, 3)),
    ("moveaxis", lambda bg, x: bg.moveaxis(x, (0, 1), (2, 0)),
     lambda x: np.moveaxis(x, (0, 1), (2, 0)), (2, 1, 3)),
    ("permute_dims", lambda bg, x: bg.permute_dims(x, (2, 0, -2)),
     lambda x: np.transpose(x, (2, 0, 1)), (2, 1, 3)),
    ("transpose", lambda bg, x: bg.transpose(x), np.transpose, (2, 1, 3)),
    ("repeat", lambda bg, x: bg.repeat(x, 2, axis=1), lambda x: np.repeat(x, 2, 1), (2, 3)),
    ("repeat", lambda bg, x: bg.repeat(x, [2, 0, 1], axis=-1), lambda x: np.repeat(x, [2, 0, 1], 1),
     (2, 3)),
    ("repeat", lambda bg, x: bg.repeat(x, bg.asarray([2, 0, 1, 1])),
     lambda x: np.repeat(x, [2, 0, 1, 1]), (2, 2)),
    ("reshape", lambda bg, x: bg.reshape(x, (-1, 2)), lambda x: x.reshape(-1, 2), (2, 3)),
    ("roll", lambda bg, x: bg.roll(x, (1, -2), axis=(0, 1)), lambda x: np.roll(x, (1, -2), (0, 1)),
     (2, 3)),
    ("squeeze", lambda bg, x: bg.squeeze(x, axis=1), lambda x: x[:, 0], (2, 1, 3)),
    ("tile", lambda bg, x: bg.tile(x, (2, 1, 2)), lambda x: np.tile(x, (2, 1, 2)), (2, 3)),
    ("tril", lambda bg, x: bg.tril(x, k=1), lambda x: np.tril(x, 1), (3, 3)),
    ("triu", lambda bg, x: bg.triu(x, k=-1), lambda x: np.triu(x, -1), (3, 3)),
    ("asarray", lambda bg, x: bg.asarray(x, copy=True), lambda x: x, (3,)),
    ("astype", lambda bg, x: bg.astype(x, "complex64"), lambda x: x, (3,)),
    ("take", lambda bg, x: bg.take(x, [1, 0, 1], axis=1), lambda x: x[:, [1, 0, 1]], (2, 3)),
    ("take", lambda bg, x: bg.take(x, bg.asarray([3, -1, 3])), lambda x: x[[3, -1, 3]], (5,)),
    ("take_along_axis",
     lambda bg, x: bg.take_along_axis(x, bg.asarray([[1, 0, 1, 2]]), axis=-1),
     lambda x: np.take_along_axis(x, np.array([[1, 0, 1, 2]]), -1), (2, 3)),
    ("unstack", lambda bg, x: bg.unstack(x, axis=1)[1], lambda x: x[:, 1], (2, 3)),
):  # fmt: skip
    case(_name, _ours, _theirs, _shape, twice=False)
case(
    "broadcast_arrays", lambda bg, x, y: bg.broadcast_arrays(x, y), np.broadcast_arrays,
    (2, 1), (3,), twice=False,
)  # fmt: skip
case(
    "concat", lambda bg, x, y: _squared(bg.concat([x, y], axis=1)),
    lambda x, y: _squared(np.concatenate([x, y], 1)), (2, 1), (2, 3),
)  # fmt: skip
case(
    "concat", lambda bg, x, y: _squared(bg.concat([x, y], axis=None)),
    lambda x, y: _squared(np.concatenate([x, y], None)), (2,), (2, 2),
)  # fmt: skip
case(
    "stack", lambda bg, x, y: _squared(bg.stack([x, y, x], axis=-1)),
    lambda x, y: _squared(np.stack([x, y, x], -1)), (2, 3), (2, 3),
)  # fmt: skip
for _indexing in ("xy", "ij"):
    case(
        "meshgrid", lambda bg, *x, i=_indexing: bg.meshgrid(*x, indexing=i),
        lambda *x, i=_indexing: np.meshgrid(*x, indexing=i), (2,), (3,), (2,), twice=False,
    )  # fmt: skip

# -- order, cumulative sums and products -----------------------------------------------------------

case("sort", lambda bg, x: bg.sort(x, axis=0) ** 3, lambda x: np.sort(x, 0) ** 3, (4, 2))
case(
    "sort", lambda bg, x: bg.sort(x, descending=True) ** 3, lambda x: np.sort(x)[..., ::-1] ** 3,
    (2, 5),
)  # fmt: skip
case(
    "cumulative_sum", lambda bg, x: _squared(bg.cumulative_sum(x, axis=0)),
    lambda x: _squared(np.cumsum(x, 0)), (3, 2), of="fc",
)  # fmt: skip
case(
    "cumulative_sum", lambda bg, x: _squared(bg.cumulative_sum(x, include_initial=True)),
    lambda x: _squared(np.concatenate([[0], np.cumsum(x)])), (4,),
)  # fmt: skip
for _rows in ((4, 2), np.float32([[2, 0], [0, 3], [1.5, -1], [0, 0], [-2, 3]])):
    case(
        "cumulative_prod", lambda bg, x: bg.cumulative_prod(x, axis=0),
        lambda x: np.cumprod(x, 0), _rows,
    )  # fmt: skip
case(
    "cumulative_prod", lambda bg, x: bg.cumulative_prod(x, include_initial=True),
    lambda x: np.concatenate([[1], np.cumprod(x)]), (7,),
)  # fmt: skip
case("diff", lambda bg, x: _squared(bg.diff(x)), lambda x: _squared(np.diff(x)), (2, 4), of="fc")
case(
    "diff", lambda bg, x, p, q: _squared(bg.diff(x, n=2, axis=0, prepend=p, append=q)),
    lambda x, p, q: _squared(np.diff(x, n=2, axis=0, prepend=p, append=q)), (3, 2), (1, 2), (2, 2),
)  # fmt: skip
case("unique_all", lambda bg, x: bg.unique_all(x).values ** 3, lambda x: np.unique(x) ** 3, (5,))

# -- products --------------------------------------------------------------------------------------

for _shapes in (
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2)),
    ((2, 1, 2, 3), (2, 3, 1)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)),
):  # fmt: skip
    case("matmul", lambda bg, x, y: bg.matmul(x, y), np.matmul, *_shapes, of="fc")
case("linalg.matmul", lambda bg, x, y: bg.linalg.matmul(x, y), np.matmul, (2, 3), (3, 2))
for _name in ("vecdot", "linalg.vecdot"):
    case(
        _name, lambda bg, x, y: bg.vecdot(x, y, axis=-1), lambda x, y: (x.conj() * y).sum(-1),
        (2, 3), (3,), of="fc",
    )  # fmt: skip
case(
    "vecdot", lambda bg, x, y: bg.vecdot(x, y, axis=0), lambda x, y: (x.conj() * y).sum(0),
    (3, 2), (3, 2),
)  # fmt: skip
for _name in ("tensordot", "linalg.tensordot"):
    case(
        _name, lambda bg, x, y: bg.tensordot(x, y, axes=([0], [1])),
        lambda x, y: np.tensordot(x, y, axes=([0], [1])), (3, 2), (2, 3), of="fc",
    )  # fmt: skip
case("linalg.outer", lambda bg, x, y: bg.linalg.outer(x, y), np.outer, (3,), (2,), of="fc")
case("linalg.cross", lambda bg, x, y: bg.linalg.cross(x, y), np.cross, (2, 3), (3,), of="fc")
for _by in (-1, 1):
    case(
        "linalg.diagonal", lambda bg, x, by=_by: _squared(bg.linalg.diagonal(x, offset=by)),
        lambda x, by=_by: _squared(np.diagonal(x, by, -2, -1)), (2, 3, 4), of="fc",
    )  # fmt: skip
case(
    "linalg.trace", lambda bg, x: _squared(bg.linalg.trace(x, offset=1)),
    lambda x: _squared(np.trace(x, 1, -2, -1)), (2, 3, 4),
)  # fmt: skip
for _text, *_shapes in (
    ("ij,jk->ik", (2, 3), (3, 2)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij,j->i", (2, 2, 3), (3,)),
    ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ij,k->k", (2, 3), (2,)), ("ibi,b->b", (2, 3, 2), (3,)),
    ("...i,i...->...", (2, 3), (3, 2)), ("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
    ("ij,ij->ij", (1, 3), (2, 3)), ("i,i->i", (1,), (3,)), ("ij,ij->j", (1, 3), (2, 3)),
):  # fmt: skip
    case(
        "einsum", lambda bg, *x, t=_text: bg.einsum(t, *x),  # type: ignore[misc]
        lambda *x, t=_text: np.einsum(t, *x), *_shapes, of="fc",  # type: ignore[misc]
    )  # fmt: skip
case(
    "einsum", lambda bg, x, y: bg.einsum(x, [0, 1], y, [1, 2], [0, 2], optimize=[(0, 1)]),
    np.matmul, (2, 3), (3, 2),
)  # fmt: skip

# -- linear algebra --------------------------------------------------------------------------------

case(
    "linalg.cholesky", lambda bg, x: bg.linalg.cholesky(_hermitian(bg, x)),
    lambda x: np.linalg.cholesky(_their_hermitian(x)), (2, 3, 3), of="fc",
)  # fmt: skip
case(
    "linalg.cholesky", lambda bg, x: bg.linalg.cholesky(_hermitian(bg, x), upper=True),
    lambda x: adjoint(np.linalg.cholesky(_their_hermitian(x))), (3, 3), of="fc",
)  # fmt: skip
for _shape in ((3, 3), (4, 2), (2, 4)):
    # Signs and phases of the vectors are arbitrary.
    case(
        "linalg.qr", lambda bg, x: [bg.abs(part) for part in bg.linalg.qr(x)],
        lambda x: [abs(part) for part in np.linalg.qr(x)], _shape, of="fc", twice=False,
    )  # fmt: skip
    case(
        "linalg.svd",
        lambda bg, x: [bg.abs(part) for part in bg.linalg.svd(x, full_matrices=False)],
        lambda x: [abs(part) for part in np.linalg.svd(x, full_matrices=False)], _shape, of="fc",
        twice=False,
    )  # fmt: skip

    def _polar(bg: Any, x: Any) -> Any:
        found = bg.linalg.svd(x, full_matrices=False)
        return found.U @ found.Vh

    def _their_polar(x: np.ndarray) -> Any:
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return u @ vh

    case("linalg.svd", _polar, _their_polar, _shape, of="fc")
    case(
        "linalg.svd", lambda bg, x: bg.linalg.svd(x).S,
        lambda x: np.linalg.svd(x, compute_uv=False), _shape,
    )  # fmt: skip
    case(
        "linalg.svdvals", lambda bg, x: bg.linalg.svdvals(x),
        lambda x: np.linalg.svd(x, compute_uv=False), _shape, of="fc",
    )  # fmt: skip
    case("linalg.pinv", lambda bg, x: bg.linalg.pinv(x), np.linalg.pinv, _shape, of="fc")
case(
    "linalg.qr", lambda bg, x: bg.abs(bg.linalg.qr(x).R), lambda x: abs(np.linalg.qr(x)[1]), (3, 2)
)


def _eigen(bg: Any, x: Any) -> Any:
    values, vectors = bg.linalg.eigh(_hermitian(bg, x))
    return values, bg.abs(vectors)


def _their_eigen(x: np.ndarray) -> Any:
    values, vectors = np.linalg.eigh(_their_hermitian(x))
    return values, abs(vectors)


case("linalg.eigh", _eigen, _their_eigen, (2, 3, 3), of="fc", twice=False)
case(
    "linalg.eigvalsh", lambda bg, x: bg.linalg.eigvalsh(_hermitian(bg, x)),
    lambda x: np.linalg.eigvalsh(_their_hermitian(x)), (3, 3), of="fc",
)  # fmt: skip


def _projected(bg: Any, x: Any) -> Any:
    values, vectors = bg.linalg.eig(x)
    return bg.abs(vectors) ** 3 @ (values * values)


def _their_projected(x: np.ndarray) -> Any:
    values, vectors = np.linalg.eig(x)
    return abs(vectors) ** 3 @ (values * values)


case("linalg.eig", _projected, _their_projected, (3, 3), of="fc", twice=False)
case(
    "linalg.eigvals", lambda bg, x: _squared(bg.sum(bg.linalg.eigvals(x))),
    lambda x: _squared(np.sum(np.linalg.eigvals(x))), (3, 3), of="fc", twice=False,
)  # fmt: skip


def _solved(x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
    if x2.ndim > 1:
        return np.linalg.solve(x1, x2)
    return np.linalg.solve(x1, np.broadcast_to(x2[:, None], (*x1.shape[:-1], 1)))[..., 0]


for _shapes in (((3, 3), (3,)), ((3, 3), (2, 3, 1)), ((2, 3, 3), (3, 2)), ((2, 3, 3), (3,))):
    case(
        "linalg.solve", lambda bg, x, y: bg.linalg.solve(x, y), _solved,
        *_shapes, of="fc",
    )  # fmt: skip
case("linalg.inv", lambda bg, x: bg.linalg.inv(x), np.linalg.inv, (2, 3, 3), of="fc")
case("linalg.det", lambda bg, x: bg.linalg.det(x), np.linalg.det, (2, 3, 3), of="fc")
case(
    "linalg.slogdet", lambda bg, x: bg.linalg.slogdet(x), lambda x: tuple(np.linalg.slogdet(x)),
    (2, 3, 3), of="fc", twice=False,
)  # fmt: skip
case(
    "linalg.slogdet", lambda bg, x: bg.linalg.slogdet(x).logabsdet,
    lambda x: np.linalg.slogdet(x)[1], (3, 3),
)  # fmt: skip
for _power in (3, 1, -2):
    case(
        "linalg.matrix_power", lambda bg, x, n=_power: bg.linalg.matrix_power(x, n),
        lambda x, n=_power: np.linalg.matrix_power(x, n), (3, 3),
    )  # fmt: skip
for _order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    case(
        "linalg.matrix_norm", lambda bg, x, n=_order: bg.linalg.matrix_norm(x, ord=n),
        lambda x, n=_order: np.linalg.norm(x, n, axis=(-2, -1)), (2, 3, 2), of="fc",
    )  # fmt: skip
for _order in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf):
    case(
        "linalg.vector_norm", lambda bg, x, n=_order: bg.linalg.vector_norm(x, ord=n, axis=1),
        lambda x, n=_order: np.linalg.norm(x, n, axis=1), (2, 3), of="fc",
    )  # fmt: skip
case(
    "linalg.vector_norm", lambda bg, x: bg.linalg.vector_norm(x, keepdims=True),
    lambda x: np.sqrt((x * x).sum(keepdims=True)), (2, 3),
)  # fmt: skip

# -- transforms ------------------------------------------------------------------------------------

for _name, _of in (
    ("fft", "fc"), ("ifft", "fc"), ("rfft", "f"), ("irfft", "fc"), ("hfft", "fc"), ("ihfft", "f"),
):  # fmt: skip
    for _n, _norm in ((None, "backward"), (6, "ortho"), (3, "forward")):
        case(
            f"fft.{_name}",
            lambda bg, x, f=_name, n=_n, m=_norm: getattr(bg.fft, f)(x, n=n, axis=0, norm=m),
            lambda x, f=_name, n=_n, m=_norm: getattr(np.fft, f)(x, n=n, axis=0, norm=m),
            (5, 2), of=_of, twice=False,
        )  # fmt: skip
for _name, _of in (
    ("fftn", "fc"), ("ifftn", "fc"), ("rfftn", "f"), ("irfftn", "c"), ("fftshift", "fc"),
    ("ifftshift", "fc"),
):  # fmt: skip
    case(
        f"fft.{_name}", lambda bg, x, f=_name: getattr(bg.fft, f)(x),
        lambda x, f=_name: getattr(np.fft, f)(x), (3, 4), of=_of, twice=False,
    )  # fmt: skip
case(
    "fft.rfft",
    lambda bg, x: _squared(bg.abs(bg.fft.rfft(x))),
    lambda x: abs(np.fft.rfft(x)) ** 2,
    (5,),
)
