"""Captured and replayed training steps equal steps without capture."""

from typing import Any

import numpy as np
import pytest

OPTIMIZERS = {
    "sgd": lambda bg, p: bg.optim.SGD(p, lr=0.1),
    "momentum": lambda bg, p: bg.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda bg, p: bg.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda bg, p: bg.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda bg, p: bg.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "adagrad": lambda bg, p: bg.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
    "lion": lambda bg, p: bg.optim.Lion(p, lr=0.01, weight_decay=0.1),
}


class Training:
    """A small network with every kind of state."""

    def __init__(self, bg: Any, name: str) -> None:
        self.bg = bg
        bg.nn.init.seed(3)
        # A bias before BatchNorm would have a gradient of rounding errors, which Adam magnifies.
        self.model = bg.nn.Sequential(
            bg.nn.Linear(6, 16, bias=False), bg.nn.BatchNorm1d(16), bg.nn.ReLU(),
            bg.nn.Dropout(0.25), bg.nn.Linear(16, 3),
        )  # fmt: skip
        self.optimizer = OPTIMIZERS[name](bg, self.model.parameters())
        self.schedule = bg.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 10)
        self.x, self.y = bg.zeros((8, 6)), bg.zeros((8,), dtype="int32")
        bg.eval(self.x, self.y)
        self.data = np.random.default_rng(0)

    def feed(self) -> None:
        self.x[...] = self.data.normal(size=(8, 6)).astype(np.float32)
        self.y[...] = self.data.integers(0, 3, 8).astype(np.int32)

    def step(self) -> Any:
        self.optimizer.zero_grad()
        loss = self.bg.nn.cross_entropy(self.model(self.x), self.y)
        loss.backward()
        self.bg.optim.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        return loss

    def state(self) -> dict[str, np.ndarray]:
        own = {name: np.asarray(x) for name, x in self.model.state_dict().items()}
        for n, state in enumerate(self.optimizer.state.values()):
            own |= {f"{n}.{name}": np.asarray(x) for name, x in state.items()}
        return own | {"lr": np.asarray(self.schedule.get_last_lr())}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_replayed_steps_are_the_steps(bg: Any, name: str) -> None:
    eager = Training(bg, name)
    expected = []
    for _ in range(6):
        eager.feed()
        expected.append(float(eager.step()))
    captured = Training(bg, name)
    captured.feed()
    found = [float(captured.step())]
    captured.feed()
    with bg.capture() as graph:
        loss = captured.step()
    found.append(float(loss))
    for _ in range(3):
        captured.feed()
        graph.replay()
        found.append(float(loss))
    captured.feed()
    found.append(float(captured.step()))  # a step without capture
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    one, other = captured.state(), eager.state()
    assert one.keys() == other.keys()
    for key, value in other.items():
        np.testing.assert_allclose(one[key], value, rtol=2e-5, atol=1e-6, err_msg=key)


def test_a_first_step_can_be_captured(bg: Any) -> None:
    eager, captured = Training(bg, "adam"), None
    for _ in range(3):
        eager.feed()
        eager.step()
    captured = Training(bg, "adam")
    captured.feed()
    with bg.capture() as graph:
        captured.step()
    for _ in range(2):
        captured.feed()
        graph.replay()
    for key, value in eager.state().items():
        np.testing.assert_allclose(captured.state()[key], value, rtol=2e-5, atol=1e-6, err_msg=key)


def test_a_first_step_with_momentum_is_refused(bg: Any) -> None:
    training = Training(bg, "momentum")
    training.feed()
    with pytest.raises(ValueError, match="after one step"), bg.capture():
        training.step()
    training.step()
    with bg.capture() as graph:
        training.step()
    graph.replay()


def test_gradients_are_added_up_by_replays(bg: Any) -> None:
    w = bg.asarray([1.0, 2.0]).requires_grad_()
    (w * 3).sum().backward()
    with bg.capture() as graph:
        (w * w).sum().backward()
    np.testing.assert_array_equal(w.grad, [5, 7])
    graph.replay()
    np.testing.assert_array_equal(w.grad, [7, 11])


def test_functions_gradients_are_captured(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0, 3.0])
    with bg.capture() as graph:
        value, slope = bg.value_and_grad(lambda x: bg.sum(bg.sin(x) * x))(x)
    x[...] = [0.5, 0.25, 0.125]
    graph.replay()
    again, expected = bg.value_and_grad(lambda x: bg.sum(bg.sin(x) * x))(x)
    np.testing.assert_array_equal(slope, expected)
    assert float(value) == float(again)
