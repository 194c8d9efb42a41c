"""Arguments and results that mean the same as in PyTorch."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


@pytest.fixture
def torch() -> Any:
    from browsergpu import torch

    return torch


def values(x: Any) -> Any:
    return np.asarray(x).tolist()


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_diag_embed(torch: Any, offset: int) -> None:
    found = torch.diag_embed(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), offset)
    assert values(found) == [np.diag(row, offset).tolist() for row in ([1.0, 2.0], [3.0, 4.0])]


def test_svd_returns_v_and_qr_takes_some(torch: Any) -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    u, s, v = torch.svd(a)
    assert (tuple(u.shape), tuple(v.shape)) == ((3, 2), (2, 2))
    np.testing.assert_allclose(np.asarray(u @ torch.diag(s) @ v.T), np.asarray(a), atol=1e-5)
    assert tuple(a.svd(some=False).U.shape) == (3, 3)
    assert tuple(torch.qr(a, False)[0].shape) == (3, 3)
    with pytest.raises(ValueError, match="svdvals"):
        torch.svd(a, compute_uv=False)


@pytest.mark.parametrize("kind", ["int", "numpy", "tensor"])
def test_every_integer_selects_before_indices(torch: Any, kind: str) -> None:
    one = {"int": 1, "numpy": np.int64(1), "tensor": torch.tensor(1)}[kind]
    numbers = np.arange(16.0).reshape(2, 2, 2, 2)
    x, i = torch.tensor(numbers), torch.tensor([0, 1])
    mask = torch.tensor([[True, False], [False, True]])
    own = np.array([[True, False], [False, True]])
    assert values(x[one, :, i]) == values(numbers[1][:, [0, 1]])
    assert values(x[one, :, mask]) == values(numbers[1][:, own])
    assert values(x[:, one, i, None]) == values(numbers[:, 1][:, [0, 1], None])
    x[one, :, i] = torch.tensor([[[5.0, 6.0], [7.0, 8.0]], [[1.0, 2.0], [3.0, 4.0]]])
    numbers[1][:, [0, 1]] = [[[5.0, 6.0], [7.0, 8.0]], [[1.0, 2.0], [3.0, 4.0]]]
    assert values(x) == numbers.tolist()


def test_masked_fill_keeps_the_dtype(torch: Any) -> None:
    mask = torch.tensor([True, False, False])
    found = torch.tensor([True, True, False]).masked_fill(mask, 0)
    assert (found.dtype, values(found)) == (torch.bool, [False, True, False])
    assert torch.zeros(3, dtype=torch.long).masked_fill(mask, 1.5).dtype == torch.long
    assert torch.zeros(3, dtype=torch.half).masked_fill(mask, -math.inf).dtype == torch.half
    with pytest.raises(ValueError, match="value must be a number of int64"):
        torch.zeros(3, dtype=torch.long).masked_fill(mask, math.inf)


def test_functional_call_follows_tied_weights(torch: Any) -> None:
    class Tied(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(2, 2, bias=False)
            self.b = torch.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x))

    module, x = Tied(), torch.ones(1, 2)
    eye = 3 * torch.eye(2)
    call = torch.func.functional_call
    before = module(x).detach()
    assert values(call(module, {"a.weight": eye}, x, strict=True)) == [[9.0, 9.0]]
    apart = call(module, {"a.weight": eye, "b.weight": torch.eye(2)}, x, tie_weights=False)
    assert values(apart) == [[3.0, 3.0]]
    np.testing.assert_array_equal(np.asarray(module(x).detach()), np.asarray(before))
    with pytest.raises(ValueError, match="one value for tied parameters"):
        call(module, {"a.weight": eye, "b.weight": torch.eye(2)}, x)
    with pytest.raises(ValueError, match="names of the module's parameters"):
        call(module, {"c.weight": eye}, x)
    with pytest.raises(ValueError, match="strict"):
        call(module, {}, x, strict=True)


def test_softmax_takes_a_dtype_by_position(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float16)
    assert torch.softmax(x, 0, torch.float32).dtype == torch.float32
    assert x.log_softmax(0, torch.float32).dtype == torch.float32
    with pytest.raises(TypeError, match="Pass dtype by name"):
        torch.nn.functional.softmax(x, 0, torch.float32)


def test_empty_tensors_decide_the_dtype_of_cat(torch: Any) -> None:
    assert torch.cat([torch.tensor([]), torch.tensor([1, 2])]).dtype == torch.float32


def test_division_rounded_to_zero(torch: Any) -> None:
    def div(a: Any, b: Any) -> Any:
        return torch.div(a, b, rounding_mode="trunc")

    assert values(div(torch.tensor([16777217, -16777217, 7, -7, 6]), 1)) == [
        16777217, -16777217, 7, -7, 6,
    ]  # fmt: skip
    assert values(div(torch.tensor([7, -7, 7, -7, -6]), torch.tensor([2, 2, -2, -2, 2]))) == [
        3, -3, -3, 3, -3,
    ]  # fmt: skip
    found = div(torch.tensor([7, -7]), 2.0)
    assert (found.dtype, values(found)) == (torch.float32, [3.0, -3.0])


def test_random_numbers_of_other_dtypes(torch: Any) -> None:
    for draw in (torch.rand, torch.randn):
        with pytest.raises(TypeError, match="a float or complex dtype"):
            draw(3, dtype=torch.int64)
        both = np.asarray(draw(2000, dtype=torch.complex64))
        assert both.imag.std() == pytest.approx(both.real.std(), rel=0.2)
    assert np.asarray(torch.randn(4000, dtype=torch.complex64)).var() == pytest.approx(1, rel=0.2)
    for name in ("normal_", "uniform_", "exponential_"):
        with pytest.raises(TypeError, match=f"{name}: self"):
            getattr(torch.zeros(3, dtype=torch.int64), name)()


def test_nan_in_mode_and_running_extrema(torch: Any) -> None:
    for numbers in ([1.0, 1.0, math.nan], [math.nan, 1.0, 1.0]):
        value, index = torch.mode(torch.tensor(numbers))
        assert (value.item(), numbers[index.item()]) == (1.0, 1.0)
    assert 0 <= torch.mode(torch.tensor([math.nan, math.nan])).indices.item() < 2
    found = torch.cummax(torch.tensor([1.0, math.nan, 2.0, 0.0]), 0)
    np.testing.assert_array_equal(np.asarray(found.values), [1.0, *[math.nan] * 3])
    assert values(found.indices) == [0, 1, 1, 1]
    found = torch.cummin(torch.tensor([1.0, math.nan, 0.0]), 0).values
    np.testing.assert_array_equal(np.asarray(found), [1.0, math.nan, math.nan])


def test_out_needs_shape_and_dtype(torch: Any) -> None:
    with pytest.raises(TypeError, match="add: out"):
        torch.add(torch.tensor([1.5]), 1, out=torch.zeros(1, dtype=torch.int64))
    with pytest.raises(ValueError, match="sum: out"):
        torch.sum(torch.ones(4), out=torch.zeros(3))


def test_copies_are_made_or_refused(torch: Any) -> None:
    a = torch.ones(2)
    a.to(torch.float32, False, True).zero_()
    a.to("cpu", torch.float32, False, True).zero_()
    assert values(a) == [1.0, 1.0]
    assert torch.asarray(a, copy=False) is a
    for given in (np.ones(2), [1.0]):
        with pytest.raises(ValueError, match="asarray: copy"):
            torch.asarray(given, copy=False)
    with pytest.raises(ValueError, match="asarray: copy"):
        torch.asarray(a, dtype=torch.int64, copy=False)


def test_loaders_refuse_a_batch_sampler_beside_what_it_replaces(torch: Any) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(4))
    for also in ({"batch_size": 4}, {"drop_last": True}, {"sampler": [0, 1]}):
        with pytest.raises(ValueError, match="batch_sampler"):
            torch.utils.data.DataLoader(data, batch_sampler=[[0], [1]], **also)


def test_what_pytorch_refuses(torch: Any) -> None:
    with pytest.raises(ValueError, match="1 or 2 axes"):
        torch.linalg.norm(torch.ones(2, 2, 2), ord=2)
    with pytest.raises(ValueError, match="arange: step"):
        torch.arange(5, 1)
    with pytest.raises(ValueError, match="narrow: start"):
        torch.arange(3).narrow(0, -5, 2)


def test_smaller_cases(torch: Any) -> None:
    x = torch.tensor([1.0, 3.0])
    assert [one.item() for one in torch.var_mean(x, False)] == [1.0, 2.0]
    assert [one.item() for one in torch.std_mean(x, True)] == pytest.approx([2**0.5, 2.0])
    assert values(torch.cartesian_prod(x)) == [1.0, 3.0]
    assert tuple(torch.combinations(x, r=3).shape) == (0, 3)
    assert torch.any(torch.tensor([0, 2], dtype=torch.uint8)).dtype == torch.uint8
    assert torch.all(torch.tensor([0, 2])).dtype == torch.bool
    y = torch.zeros(2, 2).index_put((None, torch.tensor([1])), torch.ones(2, 1))
    assert values(y) == [[0.0, 1.0], [0.0, 1.0]]


def test_checkpoint_leaves_static_arguments_alone() -> None:
    from browsergpu import jax
    from browsergpu.jax import numpy as jnp

    twice = jax.checkpoint(lambda x, n: x * 2 if n is True else x, static_argnums=1)
    assert values(twice(jnp.ones(2), True)) == [2.0, 2.0]
    assert values(jax.grad(lambda x: twice(x, True).sum())(jnp.ones(2))) == [2.0, 2.0]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_lrn_counts_the_channels_of_onnx(size: int) -> None:
    import browsergpu as bg
    from browsergpu.onnx.operators.networks.normalization import lrn

    x = np.random.default_rng(1).normal(size=(1, 5, 3)).astype(np.float32)
    squares = np.zeros_like(x)
    for c in range(5):
        low, high = max(0, c - (size - 1) // 2), min(4, c + size // 2)
        squares[:, c] = np.sum(x[:, low : high + 1] ** 2, axis=1)
    expected = x / (0.5 + 2.0 / size * squares) ** 0.75
    found = lrn(bg.asarray(x), size=size, alpha=2.0, beta=0.75, bias=0.5)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_loaders_call_an_overridden_getitem(torch: Any) -> None:
    import browsergpu as bg

    data = torch.utils.data

    class Hundredfold(data.TensorDataset):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Any:
            (x,) = super().__getitem__(index)
            return (x * 100,)

    class Part(data.Subset):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Any:
            (x,) = super().__getitem__(index)
            return (x * 100,)

    numbers = torch.arange(4.0)
    plain = data.TensorDataset(numbers)
    for dataset in (
        Hundredfold(numbers), Part(plain, range(4)), data.Subset(Hundredfold(numbers), range(4)),
    ):  # fmt: skip
        for kind in (data.DataLoader, bg.data.DataLoader):
            ((found,),) = list(kind(dataset, batch_size=4))
            assert values(found) == [0.0, 100.0, 200.0, 300.0]
    ((found,),) = list(data.DataLoader(data.Subset(plain, [2, 3]), batch_size=4))
    assert values(found) == [2.0, 3.0]


def test_files_keep_what_is_shared(torch: Any) -> None:
    def again(x: Any) -> Any:
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        return torch.load(file)

    w = torch.ones(2)
    found = again({"a": w, "b": w, "c": torch.zeros(1)})
    found["a"].add_(1)
    assert [values(found[name]) for name in "abc"] == [[2.0, 2.0], [2.0, 2.0], [0.0]]
    p = torch.nn.Parameter(w)
    one, other = again([p, p])
    assert one is other
    assert isinstance(one, torch.nn.Parameter)


def test_files_in_the_other_byte_order(torch: Any) -> None:
    file, turned = io.BytesIO(), io.BytesIO()
    torch.save({"a": torch.tensor([1.0, 2.0])}, file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(turned, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif name.endswith("data/0"):
                data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
            new.writestr(name, data)
    turned.seek(0)
    assert values(torch.load(turned)["a"]) == [1.0, 2.0]


def test_normalize_takes_one_number_for_each_channel(torch: Any) -> None:
    from browsergpu.torch.vision.transforms import functional

    with pytest.raises(ValueError, match="for each of the 1 channels"):
        functional.normalize(torch.zeros(1, 2, 2), [0.5, 0.4, 0.3], [1.0, 2.0, 3.0])
    assert tuple(functional.normalize(torch.zeros(3, 2, 2), [0.5], [2.0]).shape) == (3, 2, 2)
