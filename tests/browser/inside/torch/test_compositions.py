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


def test_running_logarithms_of_sums() -> None:
    x = np.float32([[1, -2, 3], [500, 501, -900]])  # the exponentials overflow
    expected = np.logaddexp.accumulate(x.astype(np.float64), axis=1)
    found = torch.tensor(x).logcumsumexp(1)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    y = torch.tensor([-math.inf, 1.0, 2.0], requires_grad=True)
    total = y.logcumsumexp(0)
    assert total.tolist()[0] == -math.inf
    total[1:].sum().backward()
    share = 1 / (1 + math.e)
    np.testing.assert_allclose(y.grad.numpy(), [0, 1 + share, 1 - share], rtol=1e-5)
    with pytest.raises(TypeError, match=r"float\(\)"):
        torch.logcumsumexp(torch.tensor([1, 2]), 0)


def test_medians_without_nan() -> None:
    nan = math.nan
    x = torch.tensor([[1.0, nan, 3.0, 2.0], [0.0, 4.0, 1.0, 3.0], [nan] * 4])
    values, indices = x.nanmedian(1)
    np.testing.assert_array_equal(values.numpy(), np.float32([2, 1, nan]))
    assert indices.tolist()[:2] == [3, 2]
    assert x.nanmedian(0, keepdim=True).values.tolist() == [[0, 4, 1, 2]]
    assert x.nanmedian().item() == 2
    assert torch.tensor([3, 1, 2, 4]).nanmedian().item() == 2
    y = torch.tensor([nan, 4.0, 3.0], requires_grad=True)
    y.nanmedian().backward()
    assert y.grad.tolist() == [0, 0, 1]


def test_triangular_equations() -> None:
    draw = np.random.default_rng(0)
    a = draw.normal(size=(2, 3, 3)) + 4 * np.eye(3)
    b = draw.normal(size=(2, 3, 3))
    given = [torch.tensor(x.astype(np.float32)) for x in (a, b)]
    solve = torch.linalg.solve_triangular
    own = np.tril(a, -1) + np.eye(3)
    for found, expected in (
        (solve(*given, upper=True), np.linalg.solve(np.triu(a), b)),
        (solve(*given, upper=False), np.linalg.solve(np.tril(a), b)),
        (solve(*given, upper=False, unitriangular=True), np.linalg.solve(own, b)),
        (solve(*given, upper=True, left=False), b @ np.linalg.inv(np.triu(a))),
        (torch.triangular_solve(*given[::-1], transpose=True).solution,
         np.linalg.solve(np.triu(a).mT, b)),
        (torch.cholesky_solve(given[1], given[0]),
         np.linalg.solve(np.tril(a) @ np.tril(a).mT, b)),
        (torch.cholesky_solve(given[1], given[0], upper=True),
         np.linalg.solve(np.triu(a).mT @ np.triu(a), b)),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)  # float32
    with pytest.raises(ValueError, match=r"B\[:, None\]"):
        solve(torch.eye(2), torch.ones(2), upper=True)
    left = torch.tensor([[2.0, 3.0], [5.0, 4.0]], requires_grad=True)
    solve(left, torch.ones(2, 1), upper=True).sum().backward()
    # x = [(1 - 3 / 4) / 2, 1 / 4]; the lower triangle has no part in it
    expected = [[-0.0625, -0.125], [0, 0.03125]]
    np.testing.assert_allclose(left.grad.numpy(), expected, rtol=1e-5)


def test_exponentials_of_matrices() -> None:
    turns = torch.tensor([[[0.0, 20.0], [-20.0, 0.0]], [[0.0, 0.5], [-0.5, 0.0]]])
    expected = [[[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]] for t in (20, 0.5)]
    # float32, squared three times for the larger one
    np.testing.assert_allclose(turns.matrix_exp().numpy(), expected, atol=2e-5)
    assert torch.linalg.matrix_exp(torch.zeros(2, 2)).tolist() == [[1, 0], [0, 1]]
    x = torch.diag(torch.tensor([1.0, -1.0])).requires_grad_()
    torch.matrix_exp(x).diagonal().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.diag(np.exp([1, -1])), rtol=1e-5, atol=1e-6)
    assert np.isnan(torch.matrix_exp(torch.full((2, 2), math.inf)).numpy()).all()
    with pytest.raises(TypeError, match="matrix_exp"):
        torch.matrix_exp(torch.eye(2).long())
    with pytest.raises(ValueError, match="square"):
        torch.matrix_exp(torch.ones(2, 3))


def test_bilinear_is_a_function_too() -> None:
    draw = np.random.default_rng(1)
    x, y, w, b = (draw.normal(size=n).astype(np.float32) for n in ((2, 4, 3), (2, 4, 5), (6, 3, 5),
                                                                   (6,)))  # fmt: skip
    expected = np.einsum("...i,oij,...j->...o", x, w, y)
    given = [torch.tensor(one) for one in (x, y, w)]
    np.testing.assert_allclose(F.bilinear(*given).numpy(), expected, rtol=1e-4, atol=1e-5)
    found = F.bilinear(*given, torch.tensor(b))
    np.testing.assert_allclose(found.numpy(), expected + b, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="bilinear: bias"):
        F.bilinear(*given, torch.ones(1))


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
