"""Networks, optimizers, data and files by PyTorch's names."""

from __future__ import annotations

import io
import sys
import zipfile

import numpy as np
import pytest

import browsergpu as bg
import browsergpu.torch as torch
import browsergpu.torch.nn.functional as F
from browsergpu.torch import nn
from browsergpu.torch.utils.data import (
    DataLoader,
    IterableDataset,
    RandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)

pytestmark = pytest.mark.native


@pytest.mark.fast
def test_a_network_learns() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)
    x = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = torch.tensor([[0.0], [1], [1], [0]])
    for _ in range(60):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    assert loss.item() < 0.05
    assert isinstance(model[0].weight, torch.Tensor)
    assert isinstance(model[0].weight.grad, torch.Tensor)


def test_submodules_become_layers_of_torch() -> None:
    layer = nn.TransformerEncoderLayer(8, 2)
    assert isinstance(layer.linear1, nn.Linear)
    assert isinstance(layer.linear1.weight, nn.Parameter)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = bg.nn.Linear(2, 2)
            self.scale = nn.Parameter(torch.ones(2))
            self.register_buffer("mean", torch.zeros(2))

        def forward(self, x):
            return self.own(x) * self.scale + self.mean

    net = Net()
    assert isinstance(net.own, nn.Linear)
    assert list(net.state_dict()) == ["scale", "mean", "own.weight", "own.bias"]
    assert isinstance(net(torch.ones(1, 2)), torch.Tensor)
    assert net.to("cpu").to(torch.float16).scale.dtype == torch.float16


def test_losses_equal_their_formulas() -> None:
    a = np.float32([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]])
    x, target = torch.tensor(a), torch.tensor([2, -100])
    log_p = a - np.log(np.exp(a).sum(1, keepdims=True))
    np.testing.assert_allclose(F.cross_entropy(x, target).item(), -log_p[0, 2], rtol=1e-5)
    p = 1 / (1 + np.exp(-a))
    expected = -(np.log(p[a > 0]).sum() + np.log(1 - p[a <= 0]).sum())
    found = F.binary_cross_entropy(x.sigmoid(), (x > 0).float(), reduction="sum")
    np.testing.assert_allclose(found.item(), expected, rtol=1e-5)
    q = np.exp(log_p)
    found = F.kl_div(x.log_softmax(1), torch.full((2, 3), 1 / 3), reduction="batchmean")
    np.testing.assert_allclose(found.item(), (1 / 3 * (np.log(1 / 3) - log_p)).sum() / 2, rtol=1e-5)
    loss = nn.KLDivLoss(reduction="sum", log_target=True)
    np.testing.assert_allclose(loss(x.log_softmax(1), x.log_softmax(1)).item(), 0, atol=1e-6)
    rows = F.embedding(torch.tensor([0, 1]), x.requires_grad_(), padding_idx=0)
    rows.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert q.shape == (2, 3)


def test_dropout_functions_draw_by_the_seed() -> None:
    x = torch.ones(4, 8)
    for function in (F.dropout, F.dropout2d, F.alpha_dropout, F.feature_alpha_dropout):
        torch.manual_seed(1)
        first = function(x, 0.5, training=True)
        torch.manual_seed(1)
        assert torch.equal(function(x, 0.5, training=True), first)
        assert torch.equal(function(x, 0.5, training=False), x)
    assert F.gumbel_softmax(x, hard=True).sum(1).tolist() == [1] * 4
    assert nn.Dropout2d()(x).shape == x.shape


def test_attention_with_dropout_is_attention_on_average() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 5, 4) for _ in range(3))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    drawn = [
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True) for _ in range(60)
    ]
    # The mean of 60 draws has a standard deviation of about 0.3 * |v| / sqrt(60) = 0.1.
    assert (torch.stack(drawn).mean(0) - expected).abs().max() < 0.5
    assert torch.allclose(
        F.scaled_dot_product_attention(q, k, v, dropout_p=1e-9, is_causal=True), expected, atol=1e-5
    )


def test_loaders() -> None:
    data = TensorDataset(torch.arange(10), torch.arange(10) * 2)
    torch.manual_seed(1)
    batches = list(DataLoader(data, batch_size=4, shuffle=True))
    assert [len(x) for x, _ in batches] == [4, 4, 2]
    assert sorted(n for x, _ in batches for n in x.tolist()) == list(range(10))
    assert all((y == 2 * x).all() for x, y in batches)
    torch.manual_seed(1)
    again = list(DataLoader(data, batch_size=4, shuffle=True))
    assert [x.tolist() for x, _ in again] == [x.tolist() for x, _ in batches]
    parts = random_split(data, [0.7, 0.3], torch.Generator().manual_seed(0))
    assert [len(one) for one in parts] == [7, 3]
    assert [len(x) for x, _ in DataLoader(parts[1], 2)] == [2, 1]
    sampler = WeightedRandomSampler([0.0, 1.0], 5)
    assert list(sampler) == [1] * 5
    orders = list(RandomSampler(data, num_samples=25))
    assert sorted(orders[:10]) == sorted(orders[10:20]) == list(range(10))
    endless = iter(RandomSampler(data, replacement=True, num_samples=10**10))
    assert 0 <= next(endless) < 10
    with pytest.raises(TypeError, match="generator"):
        random_split(data, [5, 5], np.random.default_rng(0))

    class Squares(IterableDataset):
        def __iter__(self):
            return iter([{"n": n, "name": str(n)} for n in range(3)])

    found = list(DataLoader(Squares(), batch_size=2))
    assert found[0]["n"].tolist() == [0, 1]
    assert found[1]["name"] == ["2"]


def test_files_keep_arrays_without_axes() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "best": torch.tensor(2.5)}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["best"].shape == ()
    assert str(model.load_state_dict(found["model"])) == "<All keys matched successfully>"


def test_files_round_trip_and_run_nothing() -> None:
    model = nn.Linear(2, 3)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "step": 3, "half": torch.ones(2).half()}, file)
    file.seek(0)
    found = torch.load(file, map_location="cpu", weights_only=True)
    assert found["step"] == 3
    assert found["half"].dtype == torch.float16
    other = nn.Linear(2, 3)
    other.load_state_dict(found["model"])
    assert torch.equal(other.weight, model.weight)

    evil = io.BytesIO()
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("archive/data.pkl", b"cos\nsystem\n(S'exit 1'\ntR.")
    evil.seek(0)
    with pytest.raises(bg.errors.InvalidType, match="of os"):
        torch.load(evil)
    whole = io.BytesIO()
    torch.save(model, whole)
    whole.seek(0)
    with pytest.raises(bg.errors.InvalidType, match="safe_globals"):
        torch.load(whole)
    whole.seek(0)
    with torch.serialization.safe_globals([nn.Linear]):
        again = torch.load(whole)
    assert isinstance(again, nn.Linear)
    assert torch.equal(again.weight, model.weight)
    assert len(list(again.parameters())) == 2
    with pytest.raises(bg.errors.InvalidArgument):
        torch.load(io.BytesIO(b"no file of PyTorch"))


def test_functions_with_a_gradient_of_their_own() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.save_for_backward(x)
            assert ctx.needs_input_grad == (True, False)
            return x**n

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 100 * x, None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Cube.apply(x, 3).sum().backward()
    assert x.grad.tolist() == [100, 200]
    (g,) = torch.autograd.grad((x**3).sum(), x)
    assert g.tolist() == [3, 12]
    assert torch.func.grad(lambda t: (t**2).sum())(torch.ones(2)).tolist() == [2, 2]
    value, pull = torch.func.vjp(lambda t: t * 2, torch.ones(2))
    assert pull(torch.ones(2))[0].tolist() == value.tolist() == [2, 2]
    jacobian = torch.autograd.functional.jacobian(lambda t: t**2, torch.tensor([1.0, 2.0]))
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    layer = nn.Linear(1, 1)
    given = {"weight": torch.full((1, 1), 2.0), "bias": torch.ones(1)}
    assert torch.func.functional_call(layer, given, torch.ones(1, 1)).tolist() == [[3]]


def test_compiled_functions_return_tensors() -> None:
    model = nn.Linear(2, 2)
    compiled = torch.compile(model)
    for n in range(4):
        x = torch.full((1, 2), float(n))
        found = compiled(x)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.tolist(), model(x).tolist(), rtol=1e-6)


def test_mixed_precision() -> None:
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        found = model(torch.ones(2, 4))
        loss = found.float().sum()
    assert found.dtype == torch.float16
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert model.weight.grad.dtype == torch.float32


def test_distributions() -> None:
    choice = torch.distributions.Categorical(probs=torch.tensor([[0.25, 0.75], [1.0, 0.0]]))
    drawn = choice.sample((100,))
    assert drawn.shape == (100, 2)
    assert not drawn[:, 1].any()
    np.testing.assert_allclose(
        choice.log_prob(torch.tensor([1, 0])).tolist(), [np.log(0.75), 0], atol=1e-5
    )
    normal = torch.distributions.Normal(torch.zeros(3), 2.0)
    expected = -0.5 * 0.25 - np.log(2) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(normal.log_prob(torch.ones(3)).tolist(), [expected] * 3, rtol=1e-5)
    other = torch.distributions.Normal(1.0, 2.0)
    kl = torch.distributions.kl_divergence(normal, other)
    np.testing.assert_allclose(kl.tolist(), [1 / 8] * 3, rtol=1e-5)
    coin = torch.distributions.Bernoulli(probs=0.25)
    np.testing.assert_allclose(coin.log_prob(torch.tensor(1.0)).item(), np.log(0.25), rtol=1e-4)


@pytest.fixture
def names():
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name == "torch" or name.startswith("torch."):
            del sys.modules[name]


def test_install_gives_the_name_torch(names) -> None:
    torch.install()
    import torch as theirs
    import torch.nn.functional as theirs_f
    from torch.utils.data import DataLoader as TheirLoader

    assert theirs is torch
    assert theirs_f is F
    assert TheirLoader is DataLoader
    torch.install()


def test_losses_broadcast_and_take_integers_and_old_names() -> None:
    x, t = torch.rand(4, 3), torch.rand(4, 3)
    near = torch.rand(4, 3) + 0.1
    wide, goal = (one.numpy().astype("float64") for one in (x, t))
    for found, wanted in (
        (F.kl_div(x.log(), t[:1], reduction="none"), goal[:1] * (np.log(goal[:1]) - np.log(wide))),
        (F.poisson_nll_loss(x, torch.ones(4, 3, dtype=torch.int64)), (np.exp(wide) - wide).mean()),
        (F.margin_ranking_loss(x, t, torch.ones(1), 0.1, None, None, "sum"),
         np.maximum(0, goal - wide + 0.1).sum()),
        (F.soft_margin_loss(x, -torch.ones(4, 3), False), np.log1p(np.exp(wide)).sum()),
        (F.pairwise_distance(x, t, keepdim=True),
         np.linalg.norm(wide - goal + 1e-6, axis=1, keepdims=True)),
        (F.gaussian_nll_loss(x, t, near),
         ((wide - goal) ** 2 / near.numpy() + np.log(near.numpy())).mean() / 2),
    ):  # fmt: skip
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=3e-5, atol=3e-6)


def test_jacobians_and_hessians_of_tensors() -> None:
    x = torch.tensor([1.0, 2.0])
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        found = jacobian(lambda scale, x: scale * x * x, argnums=1)(torch.tensor(3.0), x)
        assert isinstance(found, torch.Tensor)
        assert found.tolist() == [[6, 0], [0, 12]]
    assert torch.func.hessian(lambda x: (x**3).sum())(x).tolist() == [[6, 0], [0, 12]]
