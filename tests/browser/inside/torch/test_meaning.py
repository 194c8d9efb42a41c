"""Functions of ``browsergpu.torch`` mean what PyTorch's functions of these names mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import browsergpu.torch as torch

pytestmark = pytest.mark.native


def test_views_that_are_written() -> None:
    z = torch.zeros(3, dtype=torch.complex64)
    torch.view_as_real(z)[1, 1] = 5
    torch.real(z)[2] = 7
    assert z.tolist() == [0, 5j, 7]
    pairs = torch.zeros(2, 2)
    torch.view_as_complex(pairs)[1] = 3 + 4j
    assert pairs.tolist() == [[0, 0], [3, 4]]
    matrix = torch.zeros(3, 3)
    matrix.diagonal().fill_(2)
    matrix.diagonal(1).add_(1)
    assert matrix.tolist() == [[2, 1, 0], [0, 2, 1], [0, 0, 2]]
    with pytest.raises(ValueError, match="read-only"):
        torch.arange(5).unfold(0, 2, 1)[0] = 9


def test_tracked_parts_have_gradients() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (torch.view_as_real(z) * torch.tensor([1.0, 10.0])).sum().backward()
    assert z.grad.tolist() == [1 + 10j, 1 + 10j]
    x = torch.arange(5.0, requires_grad=True)
    x.unfold(0, 3, 2).sum().backward()
    assert x.grad.tolist() == [1, 1, 2, 1, 1]


def test_windows() -> None:
    x = torch.arange(10).reshape(2, 5)
    assert x.unfold(1, 3, 2).tolist() == [[[0, 1, 2], [2, 3, 4]], [[5, 6, 7], [7, 8, 9]]]
    assert x.unfold(0, 2, 1).shape == (1, 5, 2)


@pytest.mark.parametrize("kind", [torch.int64, torch.int32, torch.uint8])
def test_integers_are_added_exactly(kind: Any) -> None:
    start = {torch.int64: 2**40 + 1, torch.int32: 2**29 + 1, torch.uint8: 251}[kind]
    x = torch.full((3, 2), start, dtype=kind)
    index = torch.tensor([[0, 2], [0, 1], [0, 2], [1, 1]])
    found = x.scatter_add(0, index, torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=kind))
    expected = np.full((3, 2), start, found.numpy().dtype)
    rows = np.array([[0, 2], [0, 1], [0, 2], [1, 1]])
    added = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], expected.dtype)
    np.add.at(expected, (rows, np.arange(2)[None]), added)
    np.testing.assert_array_equal(found.numpy(), expected)
    x.index_add_(0, torch.tensor([2, 2]), torch.tensor([[1, 2], [3, 4]], dtype=kind))
    assert x[2].tolist() == np.array([start + 4, start + 6]).astype(expected.dtype).tolist()


def test_products() -> None:
    a, b = torch.tensor([1 + 2j, 3j]), torch.tensor([2 - 1j, 1 + 0j])
    assert torch.dot(a, b).item() == 4 + 6j
    assert torch.vdot(a, b).item() == 0 - 8j
    with pytest.raises(ValueError, match="dot: input must have 1 axis"):
        torch.dot(torch.ones(2, 2), torch.ones(2, 2))
    x = torch.zeros(2, 2)
    x.addmm_(torch.ones(2, 3), torch.ones(3, 2), alpha=2)
    assert x.tolist() == [[6, 6], [6, 6]]
    first, second = torch.arange(12.0).reshape(3, 4), torch.ones(3, 4)
    theirs = np.cross(first.numpy(), second.numpy(), axis=0)
    np.testing.assert_array_equal(torch.cross(first, second), theirs)
    with pytest.raises(ValueError, match="cross: input must have an axis of length 3"):
        torch.cross(torch.ones(2, 4), torch.ones(2, 4))
    nan = torch.tensor([float("nan")])
    assert torch.addr(nan.reshape(1, 1), torch.ones(1), torch.ones(1), beta=0).item() == 1


def test_medians_of_nan_are_nan() -> None:
    x = torch.tensor([[1.0, float("nan"), 3.0], [5.0, 4.0, 6.0]])
    assert torch.isnan(x.median())
    values, indices = x.median(1)
    assert np.isnan(values[0].item())
    assert values[1].item() == 5
    assert indices.tolist() == [1, 0]


def test_arguments_are_used_or_refused() -> None:
    rows = torch.tensor([[3, 1, 2], [9, 7, 8]])
    order = torch.argsort(rows, 1)
    found = torch.searchsorted(rows, torch.tensor([[2], [9]]), sorter=order)
    assert found.tolist() == [[1], [2]]
    assert torch.normal(0.0, 1.0, (3,), dtype=torch.float16).dtype == torch.float16
    for wrong in (
        lambda: torch.searchsorted(rows[0], rows[0], side="left", right=True),
        lambda: torch.multinomial(torch.ones(3), 4),
        lambda: torch.normal(0.0, 1.0, (3,), layout="sparse"),
        lambda: rows.is_contiguous(memory_format=torch.channels_last),
        lambda: torch.set_default_device("meta"),
        lambda: torch.device("meta").__enter__(),
        lambda: torch.amp.custom_fwd(cast_inputs=torch.float16),
        lambda: torch.nn.functional.scaled_dot_product_attention(
            *[torch.ones(1, 2, 4)] * 3, attn_mask=torch.ones(2, 2), is_causal=True
        ),
    ):
        with pytest.raises(ValueError, match="must"):
            wrong()
    half = torch.nn.functional.softmin(torch.ones(2), 0, dtype=torch.float16)
    assert half.dtype == torch.float16


def test_histogram_returns_tensors() -> None:
    found = torch.histogram(torch.tensor([1.0, 2.0, 2.0, 5.0]), 2)
    assert isinstance(found.bin_edges, torch.Tensor)
    assert found.hist.tolist() == [3, 1]
    assert found.bin_edges.tolist() == [1, 3, 5]
