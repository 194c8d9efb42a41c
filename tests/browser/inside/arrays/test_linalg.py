"""The linalg extension, against NumPy in float64 and by multiplying the factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Errors of factorisations grow like n ulp of float32 at most; here n <= 70.
RTOL = 1e-5
KINDS = ("float32", "complex64")


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def matrices(kind: str, *shape: int, seed: int = 0) -> np.ndarray:
    return sample(kind, shape, seed)


def near(got: np.ndarray, expected: np.ndarray, what: str = "") -> None:
    """Assert that numbers differ by at most RTOL of the largest expected number."""
    assert got.shape == expected.shape, what
    largest = float(np.abs(expected).max(initial=0))
    np.testing.assert_allclose(got, expected, rtol=0, atol=RTOL * largest + 1e-30, err_msg=what)


def is_unitary(x: np.ndarray, what: str = "") -> None:
    """Assert that columns are orthogonal and of length 1."""
    count = x.shape[-1]
    near(adjoint(wide(x)) @ x, np.broadcast_to(np.eye(count), (*x.shape[:-2], count, count)), what)


@pytest.mark.parametrize("kind", KINDS)
def test_equations(bg: Any, kind: str) -> None:
    for n, width, *lead in ((1, 1), (5, 3, 2, 3), (70, 4)):  # 70 rows span more than two blocks
        # Far enough from singular for float32.
        x = matrices(kind, *lead, n, n) + 3 * n**0.5 * np.eye(n, dtype=kind)
        x = x[..., ::-1, :].copy()  # requires row exchanges
        y = matrices(kind, *lead, n, width, seed=1)
        a, b = bg.asarray(x), bg.asarray(y)
        what = f"{kind} {n}"
        near(bg.linalg.solve(a, b).numpy(), np.linalg.solve(wide(x), wide(y)), what)
        near(bg.linalg.inv(a).numpy(), np.linalg.inv(wide(x)), what)
        found, expected = bg.linalg.slogdet(a), np.linalg.slogdet(wide(x))
        near(found.sign.numpy(), expected.sign, what)
        near(found.logabsdet.numpy(), expected.logabsdet, what)
        if n < 70:
            near(bg.linalg.det(a).numpy(), np.linalg.det(wide(x)), what)
    vector = matrices(kind, 5, seed=2)
    x = matrices(kind, 2, 5, 5) + 5 * np.eye(5, dtype=kind)
    solved = np.linalg.solve(wide(x), wide(np.broadcast_to(vector[:, None], (2, 5, 1))))[..., 0]
    near(bg.linalg.solve(bg.asarray(x), bg.asarray(vector)).numpy(), solved)
    for power in (0, 1, 5, -3):
        got = bg.linalg.matrix_power(bg.asarray(x), power).numpy()
        near(got, np.linalg.matrix_power(wide(x), power), f"power {power}")


def test_singular_matrices_and_extreme_determinants(bg: Any) -> None:
    x = np.ones((3, 3), np.float32)
    found = bg.linalg.slogdet(bg.asarray(x))
    assert (float(found.sign), float(found.logabsdet)) == (0, -np.inf)
    assert float(bg.linalg.det(bg.asarray(x))) == 0
    inverse = bg.linalg.inv(bg.asarray(x))
    with pytest.raises(np.linalg.LinAlgError):
        inverse.numpy()
    assert not np.isfinite(inverse.numpy()).any()
    far = np.diag(np.float32([1e30, 1e30, -1e-30, 1e-30]))
    assert float(bg.linalg.det(bg.asarray(far))) == pytest.approx(-1, rel=1e-5)
    assert float(bg.linalg.slogdet(bg.asarray(far * 1e8)).logabsdet) == pytest.approx(
        4 * np.log(1e8), rel=1e-5
    )
    factor = bg.linalg.cholesky(bg.asarray(np.diag(np.float32([4, -1, 1]))))
    with pytest.raises(np.linalg.LinAlgError):
        factor.numpy()
    not_definite = factor.numpy()
    assert not_definite[0, 0] == 2
    assert np.isnan(np.diag(not_definite)[1:]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_cholesky(bg: Any, kind: str) -> None:
    for n, *lead in ((1, 2), (3, 2, 2), (70,)):  # 70 rows span more than two blocks
        x = matrices(kind, *lead, n, n)
        x = x @ adjoint(x) + np.eye(n, dtype=kind)
        expected = np.linalg.cholesky(wide(x))
        # Only one triangle is read.
        near(bg.linalg.cholesky(bg.asarray(np.tril(x))).numpy(), expected)
        upper = bg.linalg.cholesky(bg.asarray(np.triu(x)), upper=True).numpy()
        near(upper, adjoint(expected))


def cases(kind: str) -> dict[str, np.ndarray]:
    """Return matrices: random, of deficient rank, with repeated values, and far from 1."""
    found = {
        "one": matrices(kind, 1, 1),
        "tall": matrices(kind, 2, 20, 5),
        "wide": matrices(kind, 2, 2, 3, 5),
        "large": matrices(kind, 19, 17),  # larger than a block of reflections
        "rank one": np.ones((4, 3), kind),
    }
    if kind == "float32":
        found["zero"] = np.zeros((4, 3), kind)
        found["identity"] = np.eye(5, dtype=kind)
        found["small"] = matrices(kind, 3, 3) * np.float32(1e-25)
        found["great"] = matrices(kind, 3, 3) * np.float32(1e30)
        found["graded"] = matrices(kind, 17, 17) * np.logspace(0, -6, 17, dtype=kind)[:, None]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_qr_and_singular_values(bg: Any, kind: str) -> None:
    for name, x in cases(kind).items():
        a = bg.asarray(x)
        *lead, rows, columns = x.shape
        count = min(rows, columns)
        whole = name in ("tall", "wide", "rank one", "zero")
        for mode, width in (("reduced", count), ("complete", rows))[: 1 + whole]:
            q, r = (part.numpy() for part in bg.linalg.qr(a, mode=mode))
            assert (q.shape, r.shape) == ((*lead, rows, width), (*lead, width, columns))
            is_unitary(q, name)
            near(wide(q) @ r, x, name)
            assert not np.tril(r, -1).any()
        values = np.linalg.svd(wide(x), compute_uv=False)
        near(bg.linalg.svdvals(a).numpy(), values, name)
        for full, left, right in ((False, count, count), (True, rows, columns))[: 1 + whole]:
            u, s, vh = (part.numpy() for part in bg.linalg.svd(a, full_matrices=full))
            assert (u.shape, vh.shape) == ((*lead, rows, left), (*lead, right, columns))
            near(s, values, name)
            is_unitary(u, name)
            is_unitary(adjoint(vh), name)
            near((wide(u[..., :count]) * s[..., None, :]) @ vh[..., :count, :], x, name)
        if name == ("rank one" if kind == "float32" else "tall"):
            near(bg.linalg.pinv(a).numpy(), np.linalg.pinv(wide(x), rcond=1e-5), name)
            rank = np.linalg.matrix_rank(wide(x), rtol=1e-5)
            np.testing.assert_array_equal(bg.linalg.matrix_rank(a).numpy(), rank, name)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvalues(bg: Any, kind: str) -> None:
    repeated, _ = np.linalg.qr(matrices(kind, 8, 8))
    given = {name: x[..., : x.shape[-1], :] for name, x in cases(kind).items() if name != "wide"}
    given["repeated"] = (repeated * np.float32([-2, -2, -2, 1, 1, 3, 3, 3])) @ adjoint(repeated)
    for name, x in given.items():
        x = ((x + adjoint(x)) / 2).astype(kind)
        values = np.linalg.eigvalsh(wide(x))
        lower = bg.asarray(np.tril(x))
        near(bg.linalg.eigvalsh(lower).numpy(), values, name)
        found, vectors = (part.numpy() for part in bg.linalg.eigh(lower))
        near(found, values, name)
        is_unitary(vectors, name)
        near((wide(vectors) * found[..., None, :]) @ adjoint(vectors), x, name)
    x = matrices(kind, 2, 4, 4)
    found, vectors = (part.numpy() for part in bg.linalg.eig(bg.asarray(x)))
    assert found.dtype == vectors.dtype == np.complex64
    near(wide(x) @ vectors, wide(vectors) * found[..., None, :])
    near(bg.linalg.eigvals(bg.asarray(x)).numpy(), found)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_large_matrices_are_turned_in_blocks(bg: Any, monkeypatch: Any, kind: str) -> None:
    from browsergpu.engine.kernels.linalg import jacobi

    monkeypatch.setattr(jacobi, "_ALONE", 4)
    monkeypatch.setattr(jacobi, "_SWEEPS_APART", 7)
    # One block; pairs of blocks of which the last lacks rows; an odd number of blocks.
    for n, *lead in ((13, 2), (29,), (37,)):
        x = matrices(kind, *lead, n, n, seed=5)
        if n == 37:
            x[..., 3:] = 0  # most values are 0
        u, s, vh = (part.numpy() for part in bg.linalg.svd(bg.asarray(x)))
        near(s, np.linalg.svd(wide(x), compute_uv=False), str(n))
        is_unitary(u)
        is_unitary(adjoint(vh))
        near((wide(u) * s[..., None, :]) @ vh, x, str(n))
        x = x + adjoint(x)
        found, vectors = (part.numpy() for part in bg.linalg.eigh(bg.asarray(x)))
        near(found, np.linalg.eigvalsh(wide(x)), str(n))
        is_unitary(vectors)
        near((wide(vectors) * found[..., None, :]) @ adjoint(vectors), x, str(n))


@pytest.mark.parametrize("kind", ["float32", "complex64", "float16", "int32"])
def test_norms_and_products(bg: Any, kind: str) -> None:
    x, y = matrices(kind, 3, 4, 5), matrices(kind, 3, 4, 5, seed=1)
    a, b = bg.asarray(x), bg.asarray(y)
    rtol = 2e-3 if kind == "float16" else 1e-5
    result = np.float16 if kind == "float16" else np.float32
    data = x.astype(np.complex128 if kind == "complex64" else np.float64)
    orders: dict[Any, tuple[Any, ...]] = {2: (None, False), 1: ((0, 2), False)}
    if kind == "float32":
        orders |= {np.inf: (1, True), -np.inf: (None, False), 0: (-1, False), -1.5: (0, True)}
    for order, (axis, keepdims) in orders.items():
        got = bg.linalg.vector_norm(a, ord=order, axis=axis, keepdims=keepdims)
        expected = np.linalg.vector_norm(data, ord=order, axis=axis, keepdims=keepdims)
        assert_same(got, expected.astype(result), f"{order} {axis}", rtol=rtol)
    all_orders: tuple[Any, ...] = ("fro", "nuc", 1, -1, np.inf, -np.inf, 2, -2)
    for order in all_orders if kind == "float32" else ("fro", -1):
        keepdims = order in ("nuc", 1)
        got = bg.linalg.matrix_norm(a, ord=order, keepdims=keepdims)
        expected = np.linalg.matrix_norm(data, ord=order, keepdims=keepdims)
        assert_same(got, expected.astype(result), f"{order}", rtol=rtol)
    for offset in (0, 2, -1, 9):
        assert_same(bg.linalg.diagonal(a, offset=offset), np.linalg.diagonal(x, offset=offset))
    trace = np.linalg.trace(data.swapaxes(1, 2), offset=1)
    trace = trace.astype("int64" if kind == "int32" else kind)
    assert_same(bg.linalg.trace(a.mT, offset=1), trace, rtol=rtol)
    assert_same(bg.linalg.outer(a[0, 0], b[0, 0]), np.outer(x[0, 0], y[0, 0]), rtol=rtol)
    crossed = np.cross(x[:, :3], y[:1, :3], axis=1)
    assert_same(bg.linalg.cross(a[:, :3], b[:1, :3], axis=1), crossed, rtol=rtol)
    if kind == "float16":
        found = bg.linalg.slogdet(a[..., :4])
        assert (
            found.sign.dtype == found.logabsdet.dtype == bg.linalg.inv(a[..., :4]).dtype == result
        )


def test_numpys_functions(bg: Any) -> None:
    x, y = matrices("float32", 4, 4) + 4 * np.eye(4, dtype="f4"), matrices("float32", 4, 4, seed=1)
    a, b = bg.asarray(x), bg.asarray(y)
    for got, expected in (
        (np.linalg.solve(a, y), np.linalg.solve(x, y)), (np.linalg.det(a), np.linalg.det(x)),
        (np.linalg.solve(x, b), np.linalg.solve(x, y)), (np.linalg.norm(a), np.linalg.norm(x)),
        (np.linalg.norm(a, 1, (1, 0), keepdims=True), np.linalg.norm(x, 1, (1, 0), keepdims=True)),
        (np.linalg.qr(a).R, np.linalg.qr(x).R), (np.trace(a, 1), np.trace(x, 1)),
        (np.linalg.svd(a, compute_uv=False), np.linalg.svd(x, compute_uv=False)),
        (np.linalg.eigvalsh(a, UPLO="U"), np.linalg.eigvalsh(x, UPLO="U")),
        (np.outer(a, y[0]), np.outer(x, y[0])), (np.diagonal(a, 2), np.diagonal(x, 2)),
    ):  # fmt: skip
        assert isinstance(got, bg.Array)
        near(got.numpy(), np.asarray(expected))
    with pytest.raises(ValueError, match="UPLO"):
        np.linalg.eigvalsh(a, UPLO="X")


def test_matrices_without_elements(bg: Any) -> None:
    none, empty = bg.zeros((2, 0, 0)), bg.zeros((0, 3, 3))
    assert bg.linalg.det(none).tolist() == [1, 1]
    assert bg.linalg.slogdet(none).logabsdet.tolist() == [0, 0]
    for x in (none, empty):
        for function in ("inv", "cholesky", "pinv"):
            assert getattr(bg.linalg, function)(x).shape == x.shape
        assert bg.linalg.solve(x, x).shape == x.shape
        assert bg.linalg.eigh(x).eigenvalues.shape == x.shape[:-1]
    flat = bg.zeros((2, 3, 0))
    assert [part.shape for part in bg.linalg.svd(flat)] == [(2, 3, 3), (2, 0), (2, 0, 0)]
    assert bg.linalg.svd(flat).U.tolist() == [np.eye(3).tolist()] * 2
    assert [part.shape for part in bg.linalg.qr(flat)] == [(2, 3, 0), (2, 0, 0)]
    assert bg.linalg.matrix_rank(flat).tolist() == [0, 0]
    assert bg.linalg.svdvals(empty).shape == (0, 3)


def test_invalid_arguments_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    a, flat = bg.zeros((3, 3)), bg.zeros((3, 4))
    names = ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals")
    for name in names:
        with pytest.raises(InvalidArgument, match="square"):
            getattr(bg.linalg, name)(flat)
    for call in (
        lambda: bg.linalg.solve(a, bg.zeros(4)), lambda: bg.linalg.solve(a, bg.zeros((4, 3))),
        lambda: bg.linalg.qr(a, mode="raw"), lambda: bg.linalg.matrix_norm(a, ord=3),
        lambda: bg.linalg.vector_norm(a, ord="fro"), lambda: bg.linalg.outer(a, a),
        lambda: bg.linalg.cross(flat, flat), lambda: bg.linalg.diagonal(a[0]),
        lambda: bg.linalg.matrix_power(a, 0.5), lambda: bg.linalg.svd(a[0]),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            call()
    assert bg.linalg.inv([[2.0]]).tolist() == [[0.5]], "lists are taken"


def test_the_rank_of_matrices_without_elements_has_the_usual_dtype(bg: Any) -> None:
    found = bg.linalg.matrix_rank(bg.zeros((3, 0, 2)))
    assert found.dtype == bg.linalg.matrix_rank(bg.ones((3, 2, 2))).dtype == np.int64
    assert found.tolist() == [0, 0, 0]
