"""``scatter_reduce``, ``index_reduce`` and ``as_strided``, with PyTorch 2.13's results."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu.torch as torch

pytestmark = pytest.mark.native

_INDEX = [[2, 2, 0], [1, 1, 1]]


def _reduced(a: np.ndarray, b: np.ndarray, reduce: str, include: bool) -> np.ndarray:
    """Return the reduction of each place's values, by a loop."""
    found = a.astype(np.float64)
    how = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "amax": np.max, "amin": np.min}[reduce]
    for row in range(2):
        for place in range(3):
            values = [float(b[row, n]) for n in range(3) if _INDEX[row][n] == place]
            if values:
                found[row, place] = how([float(a[row, place])] * include + values)
    return found


@pytest.mark.fast
@pytest.mark.parametrize("include", [True, False])
def test_values_at_an_index_are_reduced(include: bool) -> None:
    draw = np.random.default_rng(0)
    a, b = (draw.normal(size=(2, 3)).astype(np.float32) for _ in range(2))
    index = torch.tensor(_INDEX)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        own = torch.tensor(a)
        found = own.scatter_reduce(1, index, torch.tensor(b), reduce, include_self=include)
        expected = _reduced(a, b, reduce, include)
        # the order of float32 additions and products differs
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6, atol=1e-7)
        assert own.tolist() == a.tolist()
        same = own.scatter_reduce_(1, index, torch.tensor(b), reduce, include_self=include)
        assert same is own
        assert own.tolist() == found.tolist()


def test_integers_are_reduced_exactly() -> None:
    x, at = torch.tensor([2**40, 5]), torch.tensor([0, 0, 1])
    source = torch.tensor([3, 1, -8])
    assert x.scatter_reduce(0, at, source, "sum").tolist() == [2**40 + 4, -3]
    assert x.scatter_reduce(0, at, source, "prod").tolist() == [3 * 2**40, -40]
    assert x.scatter_reduce(0, at, source, "amin").tolist() == [1, -8]
    # PyTorch rounds the mean down: -3 / 2
    assert x.scatter_reduce(0, at, source, "mean").tolist() == [(2**40 + 4) // 3, -2]
    assert x.scatter_reduce(0, at, source, "mean", include_self=False).tolist() == [2, -8]


def test_gradients_of_scatter_reduce() -> None:
    index = torch.tensor(_INDEX)
    weights = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    # Elements that are equal to an extremum share its gradient. An element that is left out has no
    # share. (PyTorch counts it, so that its share is lost.)
    for include, own, theirs in (
        (True, [[0.5, 2, 3], [4, 1.25, 6]], [[0, 0, 0.5], [1.25, 1.25, 1.25]]),
        (False, [[0, 2, 0], [4, 0, 6]], [[1.5, 1.5, 1], [5 / 3] * 3]),
    ):
        x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 1.0, 6.0]], requires_grad=True)
        y = torch.ones(2, 3, requires_grad=True)
        (x.scatter_reduce(1, index, y, "amax", include_self=include) * weights).sum().backward()
        assert x.grad.tolist() == own
        np.testing.assert_allclose(y.grad.numpy(), theirs, rtol=1e-6)
    # A product is differentiated without a division, so zeros do no harm.
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.tensor([0.0, 5.0, 7.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0, 1]), y, "prod").sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0, 7], [10, 0, 3])
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0]), torch.ones(2), "mean").sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1 / 3, 1], rtol=1e-6)


def test_arguments_of_scatter_are_used_or_refused() -> None:
    x, index = torch.ones(2, 3), torch.tensor([[0, 0]])
    assert x.scatter(1, index, 3.0, reduce="multiply").tolist() == [[9, 1, 1], [1, 1, 1]]
    assert x.index_reduce(1, torch.tensor([0, 0, 1]), 2 * torch.ones(2, 3), "prod").tolist() == [
        [4, 2, 1]] * 2  # fmt: skip
    for reduce in ("max", "add", None):
        with pytest.raises(ValueError, match="reduce must be one of"):
            x.scatter_reduce(1, index, x, reduce)
    with pytest.raises(ValueError, match="reduce"):
        x.index_reduce(1, torch.tensor([0]), x[:, :1], "sum")
    with pytest.raises(ValueError, match="have 2 axes"):
        x.scatter_reduce(1, index[0], x, "sum")
    with pytest.raises(ValueError, match="as src"):
        x.scatter_add(1, torch.tensor([[0, 0]]), torch.ones(1, 1))
    with pytest.raises(ValueError, match="as input"):
        x.scatter(1, torch.zeros(3, 1, dtype=torch.int64), 1.0)


@pytest.mark.fast
def test_as_strided_is_a_view() -> None:
    x = torch.arange(6.0)
    found = x.as_strided((2, 2), (3, 1), 1)
    assert found.tolist() == [[1, 2], [4, 5]]
    found[0, 0] = 9
    assert x.tolist() == [0, 9, 2, 3, 4, 5]
    assert x.reshape(2, 3).t().as_strided((3,), (2,)).tolist() == [0, 2, 4]
    overlapping = x.as_strided((3, 2), (1, 1))
    assert overlapping.tolist() == [[0, 9], [9, 2], [2, 3]]
    with pytest.raises(ValueError, match="read-only"):
        overlapping[0, 0] = 1
    assert x.as_strided((2, 3), (0, 1)).tolist() == [[0, 9, 2]] * 2
    assert x.as_strided((0, 3), (1, 1)).shape == (0, 3)
    assert x.as_strided((), ()).item() == 0


def test_as_strided_has_a_gradient_and_bounds() -> None:
    x = torch.arange(4.0).requires_grad_()
    found = x.as_strided((2, 2), (1, 1), 1)
    (found * torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert x.grad.tolist() == [0, 1, 110, 1000]
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1
    y = torch.ones(4)
    for size, stride, offset, match in (
        ((5,), (1,), None, "within"), ((2,), (1,), 3, "within"), ((2,), (-1,), None, "stride"),
        ((2, 2), (1,), None, "stride"), ((1,), (1,), -1, "storage_offset"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            y.as_strided(size, stride, offset)
    with pytest.raises(ValueError, match="storage_offset"):
        y[1:].as_strided((1,), (1,), 0)
    with pytest.raises(ValueError, match="contiguous"):
        torch.ones(2, 3, requires_grad=True).t().as_strided((2,), (1,))
