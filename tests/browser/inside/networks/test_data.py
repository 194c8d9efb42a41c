"""Datasets and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _listed(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


def test_order(bg: Any) -> None:
    data = bg.data.ArrayDataset(np.arange(7, dtype=np.float32))
    loader = bg.data.DataLoader(data, 3)
    assert _listed(loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(loader) == 3
    short = bg.data.DataLoader(data, 3, drop_last=True)
    assert _listed(short) == [[0, 1, 2], [3, 4, 5]]
    assert len(short) == 2


def test_seeds(bg: Any) -> None:
    data = bg.data.ArrayDataset(np.arange(20, dtype=np.int32))
    one, other = (bg.data.DataLoader(data, 6, shuffle=True, seed=4) for _ in range(2))
    first, second = _listed(one), _listed(one)
    assert first != second
    flat = [n for batch in first for n in batch]
    assert sorted(flat) == list(range(20))
    assert _listed(other) == first
    other.epoch = 1
    assert _listed(other) == second
    assert flat == np.random.default_rng([4, 0]).permutation(20).tolist()


@pytest.mark.parametrize("prefetch", [0, 1, 5])
def test_batches_are_ready_before(bg: Any, prefetch: int) -> None:
    asked: list[int] = []

    class Told:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> float:
            asked.append(index)
            return float(index)

    found = []
    for n, batch in enumerate(bg.data.DataLoader(Told(), 1, prefetch=prefetch)):
        assert asked == list(range(min(n + prefetch + 1, 4)))
        found.append(batch.item())
    assert found == [0, 1, 2, 3]


def test_forms(bg: Any) -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([5, 6, 7], np.int32)
    host = bg.data.TensorDataset(x, y)
    device = bg.data.TensorDataset(bg.asarray(x), bg.asarray(y))
    for dataset in (host, device):
        (a, b), _ = bg.data.DataLoader(dataset, 2)
        assert isinstance(a, bg.Array)
        assert a.tolist() == [[0, 1], [2, 3]]
        assert b.tolist() == [5, 6]
    assert isinstance(next(iter(bg.data.DataLoader(bg.data.TensorDataset(x)))), tuple)

    class Dicts:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> dict[str, Any]:
            return {"x": x[index], "label": index, "pair": (bg.asarray(x[index]), 0.5)}

    (batch,) = bg.data.DataLoader(Dicts(), 2)
    assert batch["x"].tolist() == [[0, 1], [2, 3]]
    assert batch["label"].tolist() == [0, 1]
    assert batch["pair"][0].shape == (2, 2)
    assert batch["pair"][1].dtype == np.float32
    (own,) = bg.data.DataLoader(Dicts(), 2, collate_fn=len)
    assert own == 2


def test_splits(bg: Any) -> None:
    data = bg.data.ArrayDataset(np.arange(10, dtype=np.int32))
    first, second = bg.data.random_split(data, [7, 3], seed=1)
    assert len(first) == 7
    both = [*first.indices.tolist(), *second.indices.tolist()]
    assert sorted(both) == list(range(10))
    again, _ = bg.data.random_split(data, [0.7, 0.3], seed=1)
    assert again.indices.tolist() == first.indices.tolist()
    (batch,) = bg.data.DataLoader(second, 3)
    assert batch.tolist() == second.indices.tolist()
    assert second[0] == second.indices[0]
    assert [len(one) for one in bg.data.random_split(data, [0.25, 0.75], seed=1)] == [3, 7]
    with pytest.raises(ValueError, match="lengths"):
        bg.data.random_split(data, [7, 4])


def test_errors(bg: Any) -> None:
    data = bg.data
    with pytest.raises(ValueError, match="length"):
        data.ArrayDataset(np.zeros(3), np.zeros(4))
    with pytest.raises(TypeError, match="Dataset"):
        data.DataLoader(5)
    with pytest.raises(ValueError, match="batch_size"):
        data.DataLoader([1, 2], 0)
    with pytest.raises(TypeError, match="sample"):
        list(data.DataLoader(["a", "b"]))
    assert _listed(data.DataLoader([1, 2, 3], 2)) == [[1, 2], [3]]
    with pytest.raises(ValueError, match="indices"):
        data.Subset([1, 2], [2])
    assert _listed(data.DataLoader(data.ArrayDataset(np.zeros(0, np.float32)), 2)) == []
