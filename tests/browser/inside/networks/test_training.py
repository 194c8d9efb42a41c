"""Networks learn without growing memory, and continue from a file."""

from __future__ import annotations

import gc
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _moons(count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return two interleaved half circles, and each point's class."""
    angle = np.linspace(0, np.pi, count // 2)
    upper = np.stack([np.cos(angle), np.sin(angle)], 1)
    lower = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], 1)
    noise = np.random.default_rng(0).normal(scale=0.05, size=(count, 2))
    x = np.concatenate([upper, lower]) + noise
    return x.astype(np.float32), np.repeat(np.int32([0, 1]), count // 2)


def _step(model: Any, optimizer: Any, loss_of: Any, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def test_moons(bg: Any) -> None:
    nn = bg.nn
    nn.init.seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = bg.optim.Adam(model.parameters(), lr=0.05)
    loss_of = nn.CrossEntropyLoss()
    x, y = _moons()
    loader = bg.data.DataLoader(bg.data.TensorDataset(x, y), 32, shuffle=True, seed=0)
    for _ in range(60):
        for inputs, classes in loader:
            loss = _step(model, optimizer, loss_of, inputs, classes)
    assert loss.item() < 0.1
    with bg.no_grad():
        found = model(bg.asarray(x)).numpy().argmax(1)
    assert (found == y).mean() > 0.97


def test_exclusive_or(bg: Any) -> None:
    """With products and elementwise functions alone."""
    bg.nn.init.seed(1)
    x = bg.asarray(np.float32([[0, 0], [0, 1], [1, 0], [1, 1]]))
    y = bg.asarray(np.float32([[0], [1], [1], [0]]))
    init = bg.nn.init
    first = bg.nn.Parameter(init.normal_(bg.zeros((2, 8))))
    bias = bg.nn.Parameter(bg.zeros(8))
    second = bg.nn.Parameter(init.normal_(bg.zeros((8, 1))))
    optimizer = bg.optim.AdamW([first, bias, second], lr=0.05, weight_decay=0.0)
    for _ in range(200):
        optimizer.zero_grad()
        found = bg.tanh(x @ first + bias) @ second
        loss = ((found - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-2


def test_a_convolution_learns(bg: Any) -> None:
    """Classify images with a horizontal or vertical line."""
    nn = bg.nn
    nn.init.seed(0)
    rng = np.random.default_rng(0)
    pictures = rng.normal(scale=0.1, size=(16, 1, 6, 6)).astype(np.float32)
    for n in range(8):
        pictures[n, 0, n % 6] += 1
        pictures[n + 8, 0, :, n % 6] += 1
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(36, 2),
    )  # fmt: skip
    optimizer = bg.optim.AdamW(model.parameters(), lr=0.02)
    x, y = bg.asarray(pictures), bg.asarray(np.repeat(np.int32([0, 1]), 8))
    for _ in range(40):
        loss = _step(model, optimizer, nn.CrossEntropyLoss(), x, y)
    assert loss.item() < 0.05
    assert (model.eval()(x).detach().numpy().argmax(1) == y.numpy()).all()


def test_a_recurrent_layer_learns(bg: Any) -> None:
    """Predict whether the first of a few numbers is above 0."""
    nn = bg.nn
    nn.init.seed(0)
    x = np.random.default_rng(0).normal(size=(16, 4, 1)).astype(np.float32)
    goal = bg.asarray((x[:, 0] > 0).astype(np.float32))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.GRU(1, 6, batch_first=True)
            self.outer = nn.Linear(6, 1)

        def forward(self, x: Any) -> Any:
            return self.outer(self.inner(x)[0][:, -1])

    model = Net()
    optimizer = bg.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        loss = _step(model, optimizer, nn.BCEWithLogitsLoss(), bg.asarray(x), goal)
    assert loss.item() < 0.1


def test_steps_do_not_grow(bg: Any) -> None:
    """Hundreds of steps leave no more arrays, buffers or pending work than a few steps."""
    from browsergpu.arrays.lazy.trace import tracer_of

    a, b = (bg.nn.Parameter(np.ones(shape, np.float32)) for shape in ((4, 3), (3,)))
    optimizer = bg.optim.AdamW([a, b], lr=1e-3)
    x = bg.asarray(np.ones((2, 4), np.float32))
    tracer = tracer_of(bg.default_device())

    def steps(count: int) -> tuple[int, int, int]:
        for _ in range(count):
            optimizer.zero_grad()
            ((x @ a + b) ** 2).mean().backward()
            bg.optim.clip_grad_norm_([a, b], 1.0)
            optimizer.step()
        entries = sum(len(trace.code) for trace in tracer.traces.values())
        tracer.evaluate()
        gc.collect()
        held = {"Array", "Variable", "Node", "AutogradNode", "Leaf", "Trace", "Storage"}
        objects = sum(type(one).__name__ in held for one in gc.get_objects())
        return objects, tracer.device.memory.buffers, entries

    few = steps(20)
    many = steps(200)
    assert many[0] <= few[0] + 10
    assert many[1] <= few[1] + 4
    assert many[2] <= 8 * 128  # the limit of a trace


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_resumed_training_has_the_same_bits(bg: Any, name: str, tmp_path: Path) -> None:
    nn = bg.nn
    x = bg.asarray(np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32))
    options = {"lr": 0.1} | ({"momentum": 0.9} if name == "SGD" else {"betas": (0.8, 0.99)})

    def made() -> tuple[Any, Any, Any]:
        model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Linear(4, 1))
        optimizer = getattr(bg.optim, name)(model.parameters(), **options)
        return model, optimizer, bg.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def steps(model: Any, optimizer: Any, scheduler: Any, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()
            scheduler.step()

    nn.init.seed(1)
    first = made()
    steps(*first, 3)
    path = tmp_path / "c.safetensors"
    bg.io.save_checkpoint(path, first[0], first[1], step=3, scheduler=first[2])
    steps(*first, 3)
    nn.init.seed(9)
    second = made()
    assert bg.io.load_checkpoint(path, second[0], second[1], scheduler=second[2]) == 3
    steps(*second, 3)
    assert first[2].get_last_lr() == second[2].get_last_lr()
    expected = first[0].state_dict()
    for key, value in second[0].state_dict().items():
        np.testing.assert_array_equal(value.numpy(), expected[key].numpy())


def test_checkpoints_that_do_not_fit(bg: Any) -> None:
    nn, errors = bg.nn, bg.errors
    model = nn.Linear(2, 2)
    file = io.BytesIO()
    bg.io.save_checkpoint(file, model)
    saved = file.getvalue()
    assert bg.io.load_checkpoint(saved, model) == 0
    optimizer = bg.optim.SGD(model.parameters())
    with pytest.raises(errors.InvalidArgument, match="optimizer"):
        bg.io.load_checkpoint(saved, model, optimizer)
    with pytest.raises(errors.InvalidArgument, match="missing"):
        bg.io.load_checkpoint(saved, nn.RNN(2, 2))
    other = io.BytesIO()
    bg.io.save_safetensors(other, model.state_dict())
    with pytest.raises(errors.InvalidArgument, match="checkpoint"):
        bg.io.load_checkpoint(other.getvalue(), model)
    with pytest.raises(TypeError, match="Module"):
        bg.io.save_checkpoint(file, 5)
