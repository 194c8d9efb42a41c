"""Sums of products by subscripts, against NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = pytest.mark.firefox

#: Subscripts and shapes: each way to combine two operands, and the steps before it.
CASES: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("ij,jk->ki", ((3, 4), (4, 5))),
    ("bhqd,bkhd->bhqk", ((2, 3, 4, 5), (2, 6, 3, 5))),
    ("...ij,jk", ((2, 1, 3, 4), (4, 5))),
    ("ij,ij->i", ((3, 4), (3, 4))),
    ("i,j->ij", ((3,), (4,))),
    ("iij,j->i", ((3, 3, 4), (1,))),
    ("ii", ((4, 4),)),
    ("abcdef->fa", ((2, 3, 2, 2, 2, 3),)),
    ("ab,bc,cd,ad->", ((2, 3), (3, 4), (4, 5), (2, 5))),
    ("i...,i...->...", ((3, 2), (3, 1))),
    ("ij,jk", ((2, 0), (0, 3))),
]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int8", "bool"])
def test_against_numpy(bg: Any, dtype: str) -> None:
    for text, shapes in CASES if dtype == "float32" else CASES[:5:2] + CASES[6:7]:
        data = [sample(dtype, shape, n) for n, shape in enumerate(shapes)]
        with np.errstate(all="ignore"):
            expected = np.einsum(text, *data)
        got = bg.einsum(text, *map(bg.asarray, data))
        assert_same(
            got, expected, f"{dtype} {text}", rtol=1e-5 if expected.dtype.kind in "fc" else 0
        )


def test_other_forms(bg: Any) -> None:
    x, y, z = (sample("float32", shape) for shape in ((3, 4), (4, 5), (5, 3)))
    a, b, c = map(bg.asarray, (x, y, z))
    chain = np.einsum("ij,jk,kl->il", x, y, z)
    path = np.einsum_path("ij,jk,kl->il", x, y, z)[0]
    for optimize in (True, False, path, [(0, 1, 2)], [(1, 2), (0, 1)]):
        got = bg.einsum("ij,jk,kl->il", a, b, c, optimize=optimize)
        assert_same(got, chain, str(optimize), rtol=1e-5)
    for got in (bg.einsum(a, [0, 1], b, [1, 2], [0, 2]), np.einsum("ij,jk", a, b),
                np.einsum("ij,jk->ik", a, y), np.einsum(x, [0, 1], b, [1, 2])):  # fmt: skip
        assert isinstance(got, bg.Array)
        assert_same(got, x @ y, rtol=1e-5)
    half = sample("float16", (5, 300))
    assert_same(
        bg.einsum("ij,ij->i", bg.asarray(half), bg.asarray(half)),
        np.einsum("ij,ij->i", half, half, dtype=np.float64).astype(np.float16),
        rtol=2e-3,
    )
    assert bg.einsum("ij->i", bg.asarray([[1, 2]]), dtype="float32").dtype == np.float32
    same = bg.einsum("ij", a)
    a[0] = 0
    assert_same(same, x)
    out = bg.zeros((3, 5))
    assert np.einsum("ij,jk", bg.asarray(x), b, out=out) is out
    assert_same(out, x @ y, rtol=1e-5)


def test_invalid_arguments_are_refused(bg: Any) -> None:
    a = bg.asarray(sample("float32", (3, 4)))
    for call in (
        lambda: bg.einsum("ij,jk", a, a), lambda: bg.einsum("i", a), lambda: bg.einsum("ij,j", a),
        lambda: bg.einsum("ij->k", a), lambda: bg.einsum("ij"),
        lambda: bg.einsum("ij", a, optimize="best"), lambda: bg.einsum(a),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="einsum"):
            call()


def test_functions_that_opt_einsum_looks_up(bg: Any) -> None:
    """opt_einsum looks up these functions in the top-level module of an array's class."""
    x = sample("float32", (2, 3, 4))
    a = bg.asarray(x)
    module = sys.modules[type(a).__module__.split(".")[0]]
    assert_same(module.transpose(a, axes=(2, 0, 1)), x.transpose(2, 0, 1))
    assert_same(module.transpose(a), x.T)
    got = module.tensordot(a, a, axes=((1, 2), (1, 2)))
    assert_same(got, np.tensordot(x, x, axes=((1, 2), (1, 2))), rtol=1e-5)
    assert_same(module.tensordot(a, a, axes=((), ())), np.tensordot(x, x, axes=0), rtol=1e-5)
    assert_same(module.einsum("ijk,ijk->i", a, a), np.einsum("ijk,ijk->i", x, x), rtol=1e-5)
