"""Float16 products within autocast, and loss scaling."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest

from inside.spies import dispatched

pytestmark = pytest.mark.native

OPTIMIZERS = {
    "sgd": lambda bg, p: bg.optim.SGD(p, lr=0.1),
    "momentum": lambda bg, p: bg.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda bg, p: bg.optim.Adam(p, lr=0.05, amsgrad=True, betas=(0.0, 0.99)),
    "adamw": lambda bg, p: bg.optim.AdamW(p, lr=0.05, weight_decay=0.1),
    "rmsprop": lambda bg, p: bg.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "adagrad": lambda bg, p: bg.optim.Adagrad(
        p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5
    ),
    "lion": lambda bg, p: bg.optim.Lion(p, lr=0.01, weight_decay=0.1),
}


def _leaf(bg: Any, value: Any) -> Any:
    return bg.asarray(np.float32(value)).requires_grad_()


def _state(optimizer: Any) -> list[np.ndarray]:
    return [np.asarray(x) for state in optimizer.state.values() for _, x in sorted(state.items())]


def _values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# -- autocast --------------------------------------------------------------------------------------


def test_which_functions_take_which_dtype(bg: Any) -> None:
    nn = bg.nn
    x, w = bg.asarray(_values(2, 4, 4)), _leaf(bg, _values(4, 4, seed=1))
    with bg.autocast():
        assert bg.is_autocast_enabled()
        products = [
            x @ w, bg.matmul(x, w), nn.linear(x, w, bg.ones(4)), bg.einsum("bij,jk->bik", x, w),
            nn.conv1d(x, bg.reshape(w, (4, 4, 1))), nn.scaled_dot_product_attention(x, x, x),
            nn.conv_transpose2d(bg.reshape(x, (1, 2, 4, 4)), bg.ones((2, 3, 1, 1))),
        ]  # fmt: skip
        half = products[0]
        wide = [
            nn.softmax(half), nn.log_softmax(half), nn.layer_norm(half, (4,)), half.sum(),
            nn.rms_norm(half, (4,)), nn.group_norm(half, 2), half.mean(axis=0), bg.var(half),
            nn.batch_norm(half, None, None, training=True), nn.mse_loss(half, x),
            nn.cross_entropy(half[0], bg.zeros(4, dtype="int32")), bg.linalg.vector_norm(half),
            x + half, nn.relu(x),
        ]  # fmt: skip
        same = [nn.relu(half), half * 2, half + half]
        with bg.autocast(enabled=False):
            assert not bg.is_autocast_enabled()
            assert (x @ w).dtype == np.float32
        assert (x @ w).dtype == np.float16
        assert ((x + 1j) @ (x - 1j)).dtype == np.complex64
    assert not bg.is_autocast_enabled()
    assert [y.dtype for y in products] == [np.float16] * len(products)
    assert [y.dtype for y in wide] == [np.float32] * len(wide)
    assert [y.dtype for y in same] == [np.float16] * len(same)
    assert (x @ w).dtype == np.float32
    exact = x.detach().numpy().astype(np.float16).astype(float) @ w.detach().numpy().astype(
        np.float16
    ).astype(float)
    np.testing.assert_array_equal(products[0].detach().numpy().shape, exact.shape)
    np.testing.assert_allclose(products[0].detach().numpy(), exact, rtol=2e-3, atol=2e-3)


def test_gradients_are_float32(bg: Any) -> None:
    layer = bg.nn.Linear(4, 3)
    x = _leaf(bg, _values(2, 4))
    with bg.autocast():
        y = layer(x)
        loss = (y * y).sum()
    loss.backward()
    weight, bias = (p.detach().numpy() for p in (layer.weight, layer.bias))
    given = x.detach().numpy()
    slope = 2 * (given @ weight.T + bias)
    for found, expected in (
        (layer.weight, slope.T @ given), (layer.bias, slope.sum(0)), (x, slope @ weight),
    ):  # fmt: skip
        assert found.grad.dtype == np.float32
        np.testing.assert_allclose(found.grad.numpy(), expected, rtol=0.02, atol=0.02)


def test_a_weight_is_cast_once_and_not_after_it_has_changed(bg: Any) -> None:
    w, x = _leaf(bg, [[2.0]]), bg.ones((1, 1))
    with bg.autocast():
        first, second = x @ w, x @ w
        first.backward()
        second.backward()  # uses a cast that the first backward kept
        assert w.grad.tolist() == [[2]]
        with bg.no_grad():
            w += 1
        assert (x @ w).tolist() == [[3]]
        with bg.no_grad():
            unnoted = x @ w
        assert not unnoted.requires_grad
        (x @ w).backward()
    assert w.grad.tolist() == [[3]]


def test_as_a_decorator_and_in_recomputation(bg: Any) -> None:
    w = _leaf(bg, _values(4, 4))
    x = bg.asarray(_values(2, 4, seed=1))
    dtypes = []

    def part(x: Any) -> Any:
        y = bg.nn.relu(x @ w)
        dtypes.append(y.dtype)
        return y

    @bg.autocast(dtype=bg.float16)
    def forward() -> Any:
        return bg.checkpoint(part)(x).sum()

    forward().backward()
    assert dtypes == [np.float16, np.float16]
    assert w.grad.dtype == np.float32
    again = w.grad.numpy()
    w.grad = None
    bg.autocast()(lambda: part(x).sum())().backward()
    np.testing.assert_array_equal(w.grad.numpy(), again)


def test_a_backward_within_the_block_is_the_one_behind_it(bg: Any) -> None:
    w, x = _leaf(bg, _values(4, 4)), bg.asarray(_values(2, 4, seed=1))

    def loss() -> Any:
        return (bg.nn.softmax(x @ w) ** 2).sum()

    with bg.autocast():
        behind = loss()
        loss().backward()
    within = w.grad.numpy()
    w.grad = None
    behind.backward()
    np.testing.assert_array_equal(w.grad.numpy(), within)


# -- scaling ---------------------------------------------------------------------------------------


def test_gradients_that_underflow(bg: Any) -> None:
    x, w = bg.asarray(_values(8, 4)), _leaf(bg, _values(4, 1, seed=1))
    expected = x.numpy().sum(0)[:, None] * 1e-9

    def loss() -> Any:
        with bg.autocast():
            y = x @ w
        return (y.astype("float32") * 1e-9).sum()

    loss().backward()
    assert not w.grad.numpy().any(), "1e-9 is 0 in float16"
    w.grad = None
    optimizer, scaler = bg.optim.SGD([w], lr=1.0), bg.amp.GradScaler(2.0**30)
    scaler.scale(loss()).backward()
    scaler.unscale_(optimizer)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=5e-3, atol=1e-12)
    before = w.detach().numpy()
    scaler.step(optimizer)
    scaler.update()
    np.testing.assert_allclose(w.detach().numpy(), before - expected, rtol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_skipped_steps_leave_no_trace(bg: Any, name: str) -> None:
    """The first step and a later one are skipped, as if they had not been taken."""
    start, slopes = _values(3, 2), _values(6, 3, 2, seed=1)
    plain, scaled = _leaf(bg, start), _leaf(bg, start)
    theirs, ours = OPTIMIZERS[name](bg, [plain]), OPTIMIZERS[name](bg, [scaled])
    scaler = bg.amp.GradScaler(2.0**10)
    for n, slope in enumerate(slopes):
        is_bad = n in (0, 3)
        before = [scaled.detach().numpy(), *_state(ours)]
        scale = scaler.get_scale()
        factor = bg.asarray(np.float32(slope))
        ours.zero_grad()
        loss = (scaled * factor).sum()
        scaler.scale(loss * float("inf") if is_bad else loss).backward()
        scaler.step(ours)
        scaler.update()
        assert scaler.get_scale() == (scale / 2 if is_bad else scale)
        if is_bad:
            after = [scaled.detach().numpy(), *_state(ours)]
            assert n == 0 or len(after) == len(before)
            for one, other in zip(before, after, strict=n > 0):
                np.testing.assert_array_equal(one, other)
            continue
        theirs.zero_grad()
        (plain * factor).sum().backward()
        theirs.step()
        np.testing.assert_allclose(
            scaled.detach().numpy(), plain.detach().numpy(), rtol=2e-6, atol=1e-7
        )
        for own, expected in zip(_state(ours), _state(theirs), strict=True):
            np.testing.assert_allclose(own, expected, rtol=2e-6, atol=1e-7)
    ours.zero_grad()
    (scaled * 1).sum().backward()
    ours.step()  # continues without a scaler
    theirs.zero_grad()
    (plain * 1).sum().backward()
    theirs.step()
    np.testing.assert_allclose(
        scaled.detach().numpy(), plain.detach().numpy(), rtol=2e-6, atol=1e-7
    )


def test_one_nan_among_several_parameters_skips_all(bg: Any) -> None:
    a, b = _leaf(bg, [1.0, 2.0]), _leaf(bg, [[3.0]])
    optimizer, scaler = bg.optim.SGD([a, b], lr=1.0), bg.amp.GradScaler()
    spoil = bg.asarray(np.float32([1, np.nan]))
    scaler.scale((a * spoil).sum() + b.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert (a.tolist(), b.tolist()) == ([1, 2], [[3]])
    assert scaler.get_scale() == 2.0**15


def test_the_scale_grows_after_the_interval(bg: Any) -> None:
    w = _leaf(bg, [1.0])
    optimizer = bg.optim.SGD([w], lr=0.0)
    scaler = bg.amp.GradScaler(4.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=2)
    scales = []
    for bad in (False, False, False, True, False, False, False):
        optimizer.zero_grad()
        scaler.scale((w * (float("inf") if bad else 1.0)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4, 12, 12, 3, 3, 9, 9]
    scaler.unscale_(optimizer)
    scaler.update(new_scale=7.0)
    assert scaler.get_scale() == 7


def test_the_scale_does_not_grow_to_infinity(bg: Any) -> None:
    w = _leaf(bg, [0.0])
    optimizer, scaler = bg.optim.SGD([w], lr=0.0), bg.amp.GradScaler(2.0**127, growth_interval=1)
    scaler.scale((w * 0.25).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_clipping_after_unscaling_and_several_optimizers(bg: Any) -> None:
    a, b = _leaf(bg, [3.0, 4.0]), _leaf(bg, [1.0])
    first, second = bg.optim.SGD([a], lr=1.0), bg.optim.SGD([b], lr=1.0)
    scaler = bg.amp.GradScaler(1024.0)
    losses = [(a * a).sum() / 2, (b * float("inf")).sum()]
    for one in scaler.scale(losses):
        one.backward()
    scaler.unscale_(first)
    norm = bg.optim.clip_grad_norm_([a], 1.0)
    assert float(norm) == pytest.approx(5)
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    np.testing.assert_allclose(a.detach().numpy(), [2.4, 3.2], rtol=1e-5)
    assert b.tolist() == [1]
    assert scaler.get_scale() == 512


def test_parameters_of_float16(bg: Any) -> None:
    layer = bg.nn.Linear(2, 1, bias=False).half()
    before = layer.weight.detach().numpy()
    optimizer, scaler = bg.optim.Adam(layer.parameters(), lr=0.125), bg.amp.GradScaler(2.0**15)
    loss = layer(bg.ones((1, 2), dtype="float16")).astype("float32").sum() * 1e-6
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    assert layer.weight.grad.dtype == np.float32
    np.testing.assert_allclose(layer.weight.grad.numpy(), [[1e-6, 1e-6]], rtol=1e-2)
    assert layer.weight.dtype == np.float16
    np.testing.assert_allclose(layer.weight.detach().numpy(), before - 0.125, atol=4e-3)


def test_not_enabled(bg: Any) -> None:
    w = _leaf(bg, [1.0])
    optimizer, scaler = bg.optim.SGD([w], lr=1.0), bg.amp.GradScaler(enabled=False)
    assert not scaler.is_enabled()
    assert scaler.get_scale() == 1
    assert scaler.state_dict() == {}
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0]


def test_scaler_errors(bg: Any) -> None:
    w = _leaf(bg, [1.0])
    optimizer, scaler = bg.optim.SGD([w]), bg.amp.GradScaler()
    with pytest.raises(ValueError, match="scale"):
        scaler.step(optimizer)
    with pytest.raises(ValueError, match="before any gradient"):
        scaler.update()
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(ValueError, match="unscaled already"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(ValueError, match="stepped already"):
        scaler.step(optimizer)
    with pytest.raises(TypeError, match="Optimizer"):
        scaler.step(w)
    with pytest.raises(TypeError, match="outputs"):
        scaler.scale(3.0)
    with pytest.raises(ValueError, match="_growth_tracker"):
        scaler.load_state_dict({"scale": 1.0})
    for options in ({"init_scale": 0.0}, {"growth_factor": 1.0}, {"backoff_factor": 1.0},
                    {"growth_interval": 0}, {"init_scale": float("inf")}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(options))):
            bg.amp.GradScaler(**options)
    with pytest.raises(TypeError, match="float16"):
        bg.autocast(dtype=bg.float32)
    with pytest.raises(ValueError, match="one bool"):
        optimizer.step_unless(bg.zeros(()))
    dampened = bg.optim.SGD([w], momentum=0.9, dampening=0.5)
    with pytest.raises(ValueError, match="dampening"):
        dampened.step_unless(bg.asarray(False))


# -- training --------------------------------------------------------------------------------------


class Training:
    """A small network that uses most of autocast."""

    def __init__(self, bg: Any, *, is_mixed: bool = True) -> None:
        self.bg, nn = bg, bg.nn
        nn.init.seed(3)
        self.model = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
            nn.Linear(64, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3),
        )  # fmt: skip
        self.optimizer = bg.optim.AdamW(self.model.parameters(), lr=0.01)
        self.is_mixed = is_mixed
        self.scaler = bg.amp.GradScaler(2.0**24, growth_interval=3, enabled=is_mixed)
        data = np.random.default_rng(0)
        labels = data.integers(0, 3, 16).astype(np.int32)
        self.x = bg.asarray((data.normal(size=(16, 1, 4, 4)) + labels[:, None, None, None])
                            .astype(np.float32))  # fmt: skip
        self.y = bg.asarray(labels)

    def step(self) -> Any:
        self.optimizer.zero_grad()
        with self.bg.autocast(enabled=self.is_mixed):
            found = self.model(self.x)
            loss = self.bg.nn.cross_entropy(found, self.y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        self.bg.optim.clip_grad_norm_(self.model.parameters(), 5.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def state(self) -> list[np.ndarray]:
        own = [np.asarray(x) for x in self.model.state_dict().values()]
        scaler = self.scaler.state_dict()
        return [*own, *_state(self.optimizer), *(np.asarray(x) for x in scaler.values())]


@pytest.mark.all
def test_training_comes_near_that_of_float32(bg: Any) -> None:
    mixed, full = Training(bg), Training(bg, is_mixed=False)
    for _ in range(30):
        found = mixed.step()
        expected = full.step()
    assert float(full.step()) < 0.3
    assert float(found) == pytest.approx(float(expected), abs=0.1)
    assert all(p.dtype == np.float32 for p in mixed.model.parameters())
    assert 2.0**8 < mixed.scaler.get_scale() < 2.0**25


def test_training_continues_with_the_same_bits(bg: Any) -> None:
    through = Training(bg)
    for _ in range(4):
        through.step()
    file = BytesIO()
    bg.io.save_checkpoint(file, through.model, through.optimizer, step=4, scaler=through.scaler)
    scale = through.scaler.get_scale()
    for _ in range(4):
        through.step()
    resumed, saved = Training(bg), BytesIO(file.getvalue())
    own = resumed.model, resumed.optimizer
    assert bg.io.load_checkpoint(saved, *own, scaler=resumed.scaler) == 4
    assert resumed.scaler.get_scale() == scale
    for _ in range(4):
        resumed.step()
    for one, other in zip(through.state(), resumed.state(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_checkpoint_without_a_scaler_raises(bg: Any) -> None:
    model, file = bg.nn.Linear(2, 1), BytesIO()
    with pytest.raises(TypeError, match="scaler"):
        bg.io.save_checkpoint(file, model, scaler=5)
    bg.io.save_checkpoint(file, model)
    with pytest.raises(ValueError, match="scaler"):
        bg.io.load_checkpoint(BytesIO(file.getvalue()), model, scaler=bg.amp.GradScaler())


def test_states_are_arrays_that_stay_as_they_are(bg: Any) -> None:
    training = Training(bg)
    for _ in range(2):
        training.step()
    kept = training.scaler.state_dict()
    scale = float(kept["scale"])
    training.scaler.scale(training.model(training.x).sum() * float("inf")).backward()
    training.scaler.step(training.optimizer)
    training.scaler.update()
    assert training.scaler.get_scale() == scale / 2
    assert float(kept["scale"]) == scale
    training.scaler.load_state_dict(kept)
    assert training.scaler.get_scale() == scale


def test_captured_steps_are_the_steps(bg: Any) -> None:
    """Captured steps do not wait: a block refuses reads.

    Kernels are divided differently than in eager steps, and a GPU may fuse multiply-adds in either,
    so the last bits may differ.
    """
    eager, captured = Training(bg), Training(bg)
    for _ in range(8):
        expected = eager.step()
    captured.step()
    with bg.capture() as graph:
        loss = captured.step()
    for _ in range(6):
        graph.replay()
    np.testing.assert_allclose(float(loss), float(expected), rtol=2e-6)
    for one, other in zip(eager.state(), captured.state(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
    assert eager.scaler.get_scale() == captured.scaler.get_scale() < 2.0**24, "a step was skipped"


def _with_gradients(bg: Any, *gradients: np.ndarray) -> tuple[list[Any], Any, Any]:
    """Return parameters with these gradients, their optimizer, and a scaler with scale 4."""
    params = [bg.nn.Parameter(bg.zeros(g.shape)) for g in gradients]
    scaler = bg.amp.GradScaler(4.0)
    scaler.scale(bg.zeros(()))
    for param, g in zip(params, gradients, strict=True):
        param.grad = bg.asarray(g)
    return params, bg.optim.SGD(params, lr=1.0), scaler


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(("which", "at"), [(0, 0), (1, 4), (2, 0), (3, 9)])
def test_one_bad_element_skips_the_step(bg: Any, which: int, at: int, bad: float) -> None:
    """Of gradients of all lengths modulo 4, in one kernel, one element is infinite or NaN."""
    gradients = [np.full(n, 8, np.float32) for n in (4, 5, 1, 10, 7)]
    gradients[which][at] = bad
    params, optimizer, scaler = _with_gradients(bg, *gradients)
    scaler.step(optimizer)
    scaler.update()
    assert all((param.detach().numpy() == 0).all() for param in params)
    assert scaler.get_scale() == 2


def test_only_elements_of_gradients_are_checked(bg: Any) -> None:
    """Memory behind a gradient may hold anything. A buffer has room for groups of four."""
    bg.full(64, np.nan).numpy()  # leaves NaN in the memory that the next arrays get
    gradients = [np.full(n, 8, np.float32) for n in (1, 2, 3, 5, 6, 7, 9)]
    params, optimizer, scaler = _with_gradients(bg, *gradients)
    scaler.step(optimizer)
    scaler.update()
    assert all((param.detach().numpy() == -2).all() for param in params)
    assert scaler.get_scale() == 4


def test_gradients_are_unscaled_once_and_in_place(bg: Any) -> None:
    """A shared gradient is divided once, and arrays with the old values keep them."""
    params, optimizer, scaler = _with_gradients(bg, *[np.float32([8, 16, 24])] * 3)
    params[1].grad = params[0].grad
    params[2].grad = bg.asarray(np.float16([8, 16, 24]))
    first, copied = params[0].grad, params[0].grad.copy()
    view = first[1:]
    scaler.unscale_(optimizer)
    assert params[0].grad is first
    assert params[1].grad.tolist() == [2, 4, 6]
    assert params[2].grad.dtype == np.float32
    for param in params:
        assert param.grad.tolist() == [2, 4, 6]
    assert view.tolist() == [4, 6]
    assert copied.tolist() == [8, 16, 24]


def test_read_only_gradients_get_new_memory(bg: Any) -> None:
    params, optimizer, scaler = _with_gradients(bg, np.float32([8, 16]))
    kept = params[0].grad
    kept.flags.writeable = False
    scaler.unscale_(optimizer)
    assert params[0].grad.tolist() == [2, 4]
    assert kept.tolist() == [8, 16]


def test_few_kernels_unscale_many_gradients(bg: Any) -> None:
    params, optimizer, scaler = _with_gradients(bg, *[np.float32([8, 16])] * 12)
    for param in params:
        param.grad.numpy()
    with dispatched(params[0].device) as kernels:
        scaler.unscale_(optimizer)
    # The factor, and at least five gradients each beside the factor and the flag.
    assert len(kernels) <= 4


def test_compiled_steps_skip_bad_gradients(bg: Any) -> None:
    """The flag is cleared in each replay."""
    params, optimizer, scaler = _with_gradients(bg, np.float32([0, 0, 0]))

    @bg.jit
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        scaler.scale((params[0] * x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        return params[0].detach().copy()

    total = np.zeros(3)
    for x in ([1, 2, 3], [4, 5, 6], [1, np.inf, 1], [1, 1, 1], [np.nan, 0, 0], [2, 2, 2]):
        found = step(bg.asarray(np.float32(x))).numpy()
        if np.isfinite(x).all():
            total -= x
        np.testing.assert_array_equal(found, total)
    assert scaler.get_scale() == 1
