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
        list(data.DataLoader([object(), object()]))
    assert _listed(data.DataLoader([1, 2, 3], 2)) == [[1, 2], [3]]
    with pytest.raises(ValueError, match="indices"):
        data.Subset([1, 2], [2])
    assert _listed(data.DataLoader(data.ArrayDataset(np.zeros(0, np.float32)), 2)) == []


def test_samplers(bg: Any) -> None:
    data = bg.data
    assert list(data.SequentialSampler(range(3))) == [0, 1, 2]
    one, other = (data.RandomSampler(range(9), generator=np.random.default_rng(2)) for _ in "12")
    assert list(one) == (first := list(other))
    assert sorted(first) == list(range(9))
    assert list(one) != first
    more = data.RandomSampler(range(4), num_samples=10, generator=bg.random.default_rng(1))
    drawn = list(more)
    assert len(drawn) == len(more) == 10
    assert sorted(drawn[:4]) == sorted(drawn[4:8]) == [0, 1, 2, 3]
    repeated = list(data.RandomSampler(range(3), replacement=True, num_samples=50))
    assert len(repeated) == 50
    assert set(repeated) <= {0, 1, 2}
    subset = data.SubsetRandomSampler([5, 7, 9], generator=np.random.default_rng(0))
    assert sorted(subset) == [5, 7, 9]
    assert len(subset) == 3
    weighted = data.WeightedRandomSampler([0, 3, 1], 4000, generator=np.random.default_rng(0))
    counts = np.bincount(list(weighted), minlength=3)
    assert counts[0] == 0
    assert abs(counts[1] / 4000 - 0.75) < 0.035  # 5 standard deviations
    without = data.WeightedRandomSampler(bg.asarray([1.0, 0, 2.0]), 2, replacement=False)
    assert sorted(without) == [0, 2]
    for drop, expected in ((False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])):
        batches = data.BatchSampler(data.SequentialSampler(range(5)), 2, drop)
        assert list(batches) == expected
        assert len(batches) == len(expected)
    for call, name in (
        (lambda: data.WeightedRandomSampler([-1, 2], 1), "weights"),
        (lambda: data.WeightedRandomSampler([1, 0], 2, replacement=False), "num_samples"),
        (lambda: data.RandomSampler([]), "data_source"),
        (lambda: data.BatchSampler(range(3), 0, False), "batch_size"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
    with pytest.raises(TypeError, match="generator"):
        list(data.RandomSampler(range(3), generator=4))


def test_loaders_of_samplers(bg: Any) -> None:
    x = np.arange(6, dtype=np.float32)
    for dataset in (bg.data.ArrayDataset(x), bg.data.ArrayDataset(bg.asarray(x))):
        loader = bg.data.DataLoader(dataset, 2, sampler=[3, 1, 5])
        assert _listed(loader) == [[3, 1], [5]]
        assert len(loader) == 2
        assert _listed(bg.data.DataLoader(dataset, 2, sampler=[3, 1, 5], drop_last=True)) == [
            [3, 1]
        ]
        batches = bg.data.DataLoader(dataset, batch_sampler=[[0, 4], [2]])
        assert _listed(batches) == [[0, 4], [2]]
        assert len(batches) == 2
        single = bg.data.DataLoader(dataset, batch_size=None, sampler=[2, 0])
        assert _listed(single) == [2, 0]
        assert isinstance(next(iter(single)), bg.Array)
    rows = [{"x": x[:2], "name": "a", "n": 1}, {"x": x[2:4], "name": "b", "n": 2}]
    (batch,) = bg.data.DataLoader(rows, 2)
    assert batch["name"] == ["a", "b"]
    assert batch["n"].tolist() == [1, 2]
    alone = list(bg.data.DataLoader(rows, batch_size=None))
    assert [one["name"] for one in alone] == ["a", "b"]
    assert alone[1]["x"].tolist() == [2, 3]
    named = bg.data.DataLoader({"k": 1.0, "l": 2.0}, 2, sampler=["l", "k"])
    assert _listed(named) == [[2, 1]]
    assert bg.data.default_collate([(1, x), (2, x)])[1].shape == (2, 6)


def test_streams(bg: Any) -> None:
    class Counted(bg.data.IterableDataset):  # type: ignore[misc,name-defined]
        def __init__(self, count: int) -> None:
            self.count = count

        def __iter__(self) -> Any:
            return iter(np.arange(self.count, dtype=np.float32))

    loader = bg.data.DataLoader(Counted(5), 2)
    assert _listed(loader) == _listed(loader) == [[0, 1], [2, 3], [4]]
    assert _listed(bg.data.DataLoader(Counted(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert _listed(bg.data.DataLoader(Counted(2), None)) == [0, 1]
    assert list(bg.data.DataLoader(Counted(3), 2, collate_fn=len)) == [2, 1]
    assert "of batches of 2" in repr(loader)
    assert bg.data.progress(loader).total is None
    with pytest.raises(TypeError):
        len(loader)
    chained = bg.data.ChainDataset([Counted(2), Counted(1)])
    assert _listed(bg.data.DataLoader(chained, 3)) == [[0, 1, 0]]
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError, match=next(iter(options))):
            bg.data.DataLoader(Counted(3), **options)


def test_concatenated_datasets(bg: Any) -> None:
    both = bg.data.ConcatDataset([[1.0, 2.0], [], [3.0]])
    assert len(both) == 3
    assert [both[n] for n in (0, 1, 2, -1)] == [1, 2, 3, 3]
    assert both.cumulative_sizes == [2, 2, 3]
    assert _listed(bg.data.DataLoader(both, 2)) == [[1, 2], [3]]
    with pytest.raises(IndexError, match="index"):
        both[3]
    with pytest.raises(TypeError, match="datasets"):
        bg.data.ConcatDataset([3])


def test_generators_draw_seeds(bg: Any) -> None:
    data = bg.data.ArrayDataset(np.arange(20))
    for make in (np.random.default_rng, bg.random.default_rng):
        one, other = (
            bg.data.DataLoader(data, 20, shuffle=True, generator=make(5)) for _ in range(2)
        )
        assert _listed(one) == _listed(other)
        first, second = (bg.data.random_split(data, [15, 5], generator=make(3)) for _ in range(2))
        assert [*first[1].indices] == [*second[1].indices]
    with pytest.raises(ValueError, match="seed"):
        bg.data.random_split(data, [15, 5], 3, generator=np.random.default_rng(0))


def test_workers_do_not_exist(bg: Any) -> None:
    data = bg.data.ArrayDataset(np.arange(4))
    with pytest.warns(UserWarning, match="num_workers=2"):
        loader = bg.data.DataLoader(
            data, 2, num_workers=2, pin_memory=True, prefetch_factor=3, persistent_workers=True
        )
    assert loader.prefetch == 3
    assert _listed(loader) == [[0, 1], [2, 3]]
    for options in ({"timeout": 1.0}, {"worker_init_fn": print},
                    {"multiprocessing_context": "fork"}, {"persistent_workers": True},
                    {"batch_sampler": [[1]], "drop_last": True},
                    {"batch_size": None, "drop_last": True}):  # fmt: skip
        with pytest.raises(ValueError, match="DataLoader"):
            bg.data.DataLoader(data, **options)
    with pytest.raises(ValueError, match="shuffle"):
        bg.data.DataLoader(data, 2, True, [1])
