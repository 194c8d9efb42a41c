"""``jax.scipy`` and ``jax.numpy.linalg``, with SciPy's defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

A = np.float32([[4, 2], [2, 3]])


def _close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-5)


def test_softmax_is_over_all_elements(bg: Any) -> None:
    special = bg.jax.scipy.special
    x = np.float32([[1, 2], [3, 5]])
    shares = np.exp(x) / np.exp(x).sum()
    _close(special.softmax(x), shares)
    _close(special.log_softmax(x), np.log(shares))
    _close(special.softmax(x, axis=0), np.exp(x) / np.exp(x).sum(0))


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_reads_one_triangle(bg: Any, lower: bool) -> None:
    linalg = bg.jax.scipy.linalg
    part = np.tril(A) if lower else np.triu(A)
    factor = np.linalg.cholesky(A)
    _close(linalg.cholesky(part, lower=lower), factor if lower else factor.T)
    b = np.ones(2, np.float32)
    _close(linalg.cho_solve(linalg.cho_factor(part, lower=lower), b), np.linalg.solve(A, b))


def test_eigh_averages_both_triangles_unless_it_is_told_not_to(bg: Any) -> None:
    x = np.float32([[1, 5], [2, 3]])
    linalg = bg.jax.numpy.linalg
    _close(linalg.eigh(x, UPLO="L")[0], np.linalg.eigvalsh((x + x.T) / 2))
    _close(linalg.eigvalsh(x, UPLO="L", symmetrize_input=False), np.linalg.eigvalsh(x))
    _close(bg.jax.scipy.linalg.eigh(x, lower=False)[0], np.linalg.eigvalsh(x, UPLO="U"))


def test_blocks_and_diagonals(bg: Any) -> None:
    linalg = bg.jax.scipy.linalg
    assert linalg.block_diag().shape == (1, 0)
    with pytest.raises(ValueError, match="toeplitz: c must be a vector"):
        linalg.toeplitz(np.ones((2, 3), np.float32))
