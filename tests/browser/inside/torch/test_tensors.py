"""Tensors mean what PyTorch's mean. The expected values are PyTorch's, or NumPy's formulas."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu as bg
import browsergpu.torch as torch

pytestmark = pytest.mark.native

A = np.float32([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]])


@pytest.fixture
def a():
    return torch.tensor(A)


@pytest.mark.fast
def test_results_are_tensors_and_prints_are_pytorchs(a) -> None:
    for found in (a + 1, 1 - a, a[0], a.T, a.sum(), torch.exp(a), a.max(1).values, a @ a.t()):
        assert isinstance(found, torch.Tensor)
    assert repr(a[:, :2]) == "tensor([[ 0.5000, -1.0000],\n        [ 3.0000,  0.2500]])"
    assert repr(torch.arange(3)) == "tensor([0, 1, 2])"
    assert repr(torch.ones(2, requires_grad=True)) == "tensor([1., 1.], requires_grad=True)"
    y = (torch.ones(2, requires_grad=True) * 2).sum()
    assert repr(y) == "tensor(4., grad_fn=<SumBackward0>)"
    ((before, at),) = y.grad_fn.next_functions
    assert (before.name(), at) == ("MulBackward0", 0)
    assert repr(before.next_functions) == "((<AccumulateGrad>, 0),)"
    assert before.next_functions[0][0].next_functions == ()


def test_an_array_of_the_user_stays_an_array() -> None:
    x = bg.ones((2, 2))
    own = torch.as_tensor(x)
    own[0, 0] = 5
    assert isinstance(own, torch.Tensor)
    assert not isinstance(x, torch.Tensor)
    assert x.tolist() == [[5, 1], [1, 1]]
    assert not isinstance(torch.nn.Parameter(x).data is x, torch.Tensor)
    torch.conj(x)
    assert type(x) is bg.Array


def test_shapes() -> None:
    c = torch.arange(24).reshape(2, 3, 4)
    assert c.size() == c.shape == torch.Size([2, 3, 4])
    assert (c.size(1), c.size(-1), c.shape.numel(), c.numel(), c.dim()) == (3, 4, 24, 24, 3)
    assert c.transpose(0, 2).shape == (4, 3, 2)
    assert c.permute(1, 2, 0).shape == c.permute((1, 2, 0)).shape == (3, 4, 2)
    assert c.view(-1, 12).shape == c.flatten(1).shape == (2, 12)
    part = c.view(6, 4)
    part[0] = 9
    assert c[0, 0].tolist() == [9] * 4
    with pytest.raises(RuntimeError, match=r"view: shape must be .* Use reshape\(\)"):
        c.transpose(0, 2).view(-1)
    with pytest.raises(ValueError, match="view: shape must be a shape of 24 elements"):
        c.view(5)
    assert [x.shape[0] for x in torch.arange(7).split(3)] == [3, 3, 1]
    assert [x.shape[0] for x in torch.arange(7).chunk(3)] == [3, 3, 1]
    assert torch.tensor([1, 2]).repeat(2, 2).tolist() == [[1, 2, 1, 2]] * 2
    assert torch.ones(3, 1).expand(-1, 4).shape == (3, 4)
    assert torch.zeros(1, 2).squeeze(1).shape == (1, 2)
    assert [g.shape for g in torch.meshgrid(torch.arange(2), torch.arange(3))] == [(2, 3)] * 2


def test_reductions_with_an_axis_return_values_and_indices(a) -> None:
    values, indices = a.max(1)
    assert (values.tolist(), indices.tolist()) == ([2, 3], [2, 0])
    assert a.min(0, keepdim=True).indices.tolist() == [[0, 0, 1]]
    assert a.sort(descending=True).values.tolist() == np.sort(A)[:, ::-1].tolist()
    assert a.topk(2).indices.tolist() == [[2, 0], [0, 1]]
    assert a.median(1).values.tolist() == [0.5, 0.25]
    assert a.cummax(1).values.tolist() == np.maximum.accumulate(A, 1).tolist()
    assert torch.tensor([1, 2, 2, 3, 3]).mode()[0].item() == 2
    np.testing.assert_allclose(a.std().item(), A.std(ddof=1), rtol=1e-6)
    np.testing.assert_allclose(a.var(0, unbiased=False).numpy(), A.var(0), rtol=1e-6)


def test_dtypes_promote_by_pytorchs_rules(a) -> None:
    half, whole = a.half(), torch.arange(3)
    cases = {
        "float16": (half * torch.tensor(1.0), half + whole, half * a[0, 0], half + 1.5),
        "float32": (whole / 2, whole * torch.tensor(2.5), half + a, whole + 0.5, whole.sigmoid()),
        "int32": (whole.int() + torch.tensor(1), whole.int() * 2),
        "int64": (whole.int() + whole, (a > 0) + 1, whole.int().sum(), whole // 2),
    }
    for name, found in cases.items():
        assert [x.dtype.name for x in found] == [name] * len(found)
    assert torch.float32 is np.dtype("float32")
    with pytest.raises(bg.errors.InvalidType, match="float"):
        whole.mean()
    with pytest.raises(bg.errors.Unsupported, match="bfloat16"):
        a.bfloat16()


def test_gathering_and_scattering(a) -> None:
    where = torch.tensor([[0, 2], [1, 1]])
    assert a.gather(1, where).tolist() == np.take_along_axis(A, where.numpy(), 1).tolist()
    assert torch.zeros(2, 3).scatter_(1, where, 1.0).tolist() == [[1, 0, 1], [0, 1, 0]]
    added = torch.zeros(2, 3).scatter_add_(1, where, torch.ones(2, 2))
    assert added.tolist() == [[1, 0, 1], [0, 2, 0]]
    assert torch.zeros(3, 3).index_add_(0, torch.tensor([2, 2]), a)[2].tolist() == A.sum(0).tolist()
    assert a.masked_fill(a > 0, 7).tolist() == np.where(A > 0, 7, A).tolist()
    assert a.nonzero().shape == (6, 2)
    c = torch.arange(24).reshape(2, 3, 4)
    assert c[0, :, torch.tensor([0, 1])].shape == (3, 2)  # NumPy's shape is (2, 3)


def test_writes_in_place() -> None:
    x = torch.zeros(3)
    assert x.add_(2, alpha=3).mul_(2).tolist() == [12, 12, 12]
    x[0].fill_(1)  # an element is a view
    x.clamp_(max=5).copy_(x + 1)
    assert x.tolist() == [2, 6, 6]
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(bg.errors.InvalidArgument):
        w.add_(1)
    w.data.add_(1)
    assert w.tolist() == [2, 2]
    w.sum().backward()
    assert w.is_leaf
    assert w.grad.tolist() == [1, 1]  # a write to the data is not recorded
    w.data = torch.zeros(2)
    assert w.tolist() == [0, 0]


def test_gradients_pass_through_the_functions_of_the_skin() -> None:
    x = torch.tensor(A, requires_grad=True)
    first = torch.zeros(2, 1).long()
    parts = (
        x.max(1).values, x.sort(1)[0][:, 0], x.gather(1, first), torch.where(x > 0, x, 0.0),
        x.scatter_add(0, first.T.expand(1, 2), torch.ones(1, 2)),
    )  # fmt: skip
    sum(one.sum() for one in parts).backward()
    expected = [[1 + 1 + 1, 1 + 1, 1 + 1 + 1], [1 + 1 + 1 + 1, 1 + 1, 1 + 1]]
    assert x.grad.tolist() == expected
    assert isinstance(x.grad, torch.Tensor)


def test_second_gradients_of_rules_that_call_other_functions() -> None:
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.digamma(x).sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    assert bend.tolist() == pytest.approx([-16.8288, -2.40411], rel=1e-5)
    # The class of the second factor comes from browsergpu, as in that rule.
    factor = bg.special.polygamma(1, x)
    assert isinstance(torch.ones(2) * factor, torch.Tensor)


def test_random_numbers_follow_the_seed() -> None:
    def draw():
        return torch.randn(4).tolist(), torch.randperm(5).tolist(), torch.randint(9, (3,)).tolist()

    torch.manual_seed(3)
    first = draw()
    torch.manual_seed(3)
    assert draw() == first
    assert sorted(first[1]) == [0, 1, 2, 3, 4]
    own = torch.Generator().manual_seed(1)
    assert torch.rand(2, generator=own).shape == (2,)
    drawn = torch.multinomial(torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]), 50, True)
    assert set(drawn[0].tolist()) == {1}
    assert set(drawn[1].tolist()) == {0, 2}
    once = torch.multinomial(torch.tensor([1.0, 0.0, 2.0, 3.0]), 3)
    assert sorted(once.tolist()) == [0, 2, 3]


def test_devices_are_the_gpu() -> None:
    with pytest.warns(UserWarning, match="WebGPU") if not _noted() else _nothing():
        x = torch.ones(2, device="cuda").to("cpu")
    assert x.device.type == "webgpu"
    assert torch.device("cuda:1").index == 1
    assert not torch.cuda.is_available()
    with pytest.raises(bg.errors.InvalidArgument):
        torch.device("tpu")


def _noted() -> bool:
    from browsergpu.torch.tensors import devices

    return "device" in devices._noted


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


def test_new_takes_a_size_or_values(a) -> None:
    """Older programs begin the state of an LSTM with ``weight.new(2, 3, 4).zero_()``."""
    assert a.new(2, 3).zero_().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert a.new(a.size()).shape == a.shape
    assert a.new().shape == (0,)
    found = torch.ones(2, dtype=torch.int32).new([3, 4])
    assert (found.tolist(), found.dtype) == ([3, 4], torch.int32)
    for size in (a, "x", 2.5):
        with pytest.raises(bg.errors.InvalidArgument, match=r"Tensor\.new: size"):
            a.new(size)


def test_unknown_names_say_so(a) -> None:
    for name in ("sparse_coo_tensor", "quantize_per_tensor"):
        assert not hasattr(torch, name)
    with pytest.raises(bg.errors.UnknownName, match="foo"):
        torch.foo  # noqa: B018
    with pytest.raises(bg.errors.UnknownName, match="Tensor"):
        a.foo  # noqa: B018
    with pytest.raises(bg.errors.InvalidArgument):
        torch.zeros(2, layout="sparse")
    with pytest.raises(TypeError):
        a.sum(0, bogus=1)


def test_complex_numbers_from_their_parts() -> None:
    real = torch.tensor([1.0, -2.0], requires_grad=True)
    whole = torch.complex(real, torch.tensor([float("inf"), 3.0]))
    assert whole.detach().tolist() == [complex(1, float("inf")), -2 + 3j]
    whole.abs()[1].backward()
    np.testing.assert_allclose(real.grad.numpy(), [0, -2 / 13**0.5], rtol=1e-6)
    np.testing.assert_allclose(
        torch.polar(torch.ones(1), torch.ones(1)).numpy(), [np.exp(1j)], rtol=1e-6
    )
    with pytest.raises(TypeError):
        torch.complex(torch.tensor([1]), torch.tensor([2]))
