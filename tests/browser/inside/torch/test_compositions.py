"""Functions of ``browsergpu.torch`` that consist of a few others, windows and texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import browsergpu.torch as torch
import browsergpu.torch.nn.functional as F
from browsergpu.torch import nn

pytestmark = pytest.mark.native


@pytest.mark.fast
def test_windows_are_periodic_by_default() -> None:
    for name, theirs in (
        ("hann_window", np.hanning), ("hamming_window", np.hamming),
        ("bartlett_window", np.bartlett), ("blackman_window", np.blackman),
    ):  # fmt: skip
        function = getattr(torch, name)
        # cos of the GPU may be off by 1e-6
        np.testing.assert_allclose(function(6).numpy(), theirs(7)[:-1], atol=3e-6)
        np.testing.assert_allclose(function(6, False).numpy(), theirs(6), atol=3e-6)
        assert function(1).tolist() == [1]
        assert function(0).shape == (0,)
    assert torch.hann_window(4, dtype=torch.float16).dtype == torch.float16
    with pytest.raises(ValueError, match="window_length"):
        torch.hann_window(-1)


def test_matrices_of_vectors() -> None:
    v = torch.tensor([1.0, 2.0, 4.0])
    assert torch.vander(v).tolist() == [[1, 1, 1], [4, 2, 1], [16, 4, 1]]
    assert torch.diagflat(torch.ones(2, 1)).tolist() == [[1, 0], [0, 1]]
    rows = np.float32([[1, 2, 4], [3, -1, 0]])
    np.testing.assert_allclose(torch.tensor(rows).cov().numpy(), np.cov(rows), rtol=1e-5)
    np.testing.assert_allclose(torch.tensor(rows).corrcoef().numpy(), np.corrcoef(rows), rtol=1e-5)
    apart = [np.linalg.norm(rows[0] - rows[1])]
    np.testing.assert_allclose(torch.pdist(torch.tensor(rows)).numpy(), apart, rtol=1e-6)
    assert torch.cumulative_trapezoid(v).tolist() == [1.5, 4.5]
    assert torch.cumulative_trapezoid(v, torch.tensor([0.0, 2.0, 3.0])).tolist() == [3, 6]
    assert [part.shape for part in torch.hsplit(torch.ones(2, 4), 2)] == [(2, 2), (2, 2)]
    assert torch.atleast_2d(v).shape == (1, 3)


def test_logarithms() -> None:
    assert torch.logdet(torch.eye(2) * 2).item() == pytest.approx(math.log(4), rel=1e-6)
    assert math.isnan(torch.logdet(torch.diag(torch.tensor([1.0, -1.0]))).item())
    expected = math.log(math.pi) / 2 + math.lgamma(3) + math.lgamma(2.5)
    assert torch.mvlgamma(torch.tensor([3.0]), 2).item() == pytest.approx(expected, rel=1e-5)
    assert torch.ldexp(torch.tensor([1.5]), torch.tensor([3])).tolist() == [12]


def test_put_returns_a_copy() -> None:
    x = torch.arange(4).reshape(2, 2)
    found = x.put(torch.tensor([3, 0]), torch.tensor([7, 8]))
    assert found.tolist() == [[8, 1], [2, 7]]
    again = torch.tensor([1, 1])
    assert x.put(again, torch.tensor([5, 6]), accumulate=True).tolist() == [[0, 12], [2, 3]]
    assert x.tolist() == [[0, 1], [2, 3]]


def test_dtypes_of_results() -> None:
    u = torch.ones(2, 2, dtype=torch.uint8)
    for found in (u.sum(), u.prod(), u.cumsum(0), u.cumprod(1)):
        assert found.dtype == torch.int64
    assert u.sum(dtype=torch.uint8).dtype == torch.uint8
    x = torch.rand(1, 2, 4, 4)
    layer = nn.MaxPool2d(2, return_indices=True)
    for values, indices in (layer(x), F.max_pool2d(x, 2, return_indices=True)):
        assert indices.dtype == torch.int64
        assert nn.MaxUnpool2d(2)(values, indices).shape == x.shape
    assert nn.MaxPool2d(2)(x).shape == (1, 2, 2, 2)


def test_texts() -> None:
    assert repr(torch.tensor([1.0, float("nan"), float("inf")])) == "tensor([1., nan, inf])"
    assert repr(torch.tensor([1 + 2j])) == "tensor([1.+2.j])"
