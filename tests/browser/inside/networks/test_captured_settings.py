"""Replayed steps follow all settings of an optimizer, or raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

#: Optimizers, and different values of each setting that replays follow.
FOLLOWED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "sgd": (
        "SGD", {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1},
        {"lr": 0.03, "momentum": 0.5, "dampening": 0.4, "weight_decay": 0.0},
    ),
    "nesterov": (
        "SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.5, "weight_decay": 0.3},
    ),
    "adam": (
        "Adam", {"weight_decay": 0.1, "amsgrad": True},
        {"lr": 0.03, "betas": (0.5, 0.7), "eps": 0.1, "weight_decay": 0.4},
    ),
    "adamw": ("AdamW", {}, {"lr": 0.03, "betas": (0.0, 0.7), "eps": 0.1, "weight_decay": 0.4}),
    "rmsprop": (
        "RMSprop", {"momentum": 0.5, "centered": True, "weight_decay": 0.1},
        {"lr": 0.03, "alpha": 0.5, "eps": 0.1, "momentum": 0.2, "weight_decay": 0.4},
    ),
    "adagrad": (
        "Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1},
        {"lr": 0.3, "lr_decay": 0.5, "eps": 0.1, "weight_decay": 0.4},
    ),
    "adamax": (
        "Adamax", {"weight_decay": 0.1},
        {"lr": 0.03, "betas": (0.5, 0.7), "eps": 0.1, "weight_decay": 0.4},
    ),
    "nadam": (
        "NAdam", {"weight_decay": 0.1},
        {"lr": 0.03, "betas": (0.5, 0.7), "eps": 0.1, "weight_decay": 0.4, "momentum_decay": 0.2},
    ),
    "radam": (
        "RAdam", {"weight_decay": 0.1, "betas": (0.9, 0.6)},
        {"lr": 0.03, "betas": (0.5, 0.4), "eps": 0.1, "weight_decay": 0.4},
    ),
    "adadelta": (
        "Adadelta", {"weight_decay": 0.1},
        {"lr": 0.3, "rho": 0.5, "eps": 0.1, "weight_decay": 0.4},
    ),
    "rprop": ("Rprop", {"lr": 0.1}, {"etas": (0.4, 1.5), "step_sizes": (0.2, 0.25)}),
    "asgd": (
        "ASGD", {"weight_decay": 0.1, "lambd": 0.1},
        {"lr": 0.03, "lambd": 0.3, "alpha": 0.2, "t0": 2.0, "weight_decay": 0.4},
    ),
    "lion": ("Lion", {}, {"lr": 0.03, "betas": (0.2, 0.5), "weight_decay": 0.4}),
}  # fmt: skip

#: Settings that change the formula, before and after.
REFUSED = [
    ("SGD", {"momentum": 0.9}, "momentum", 0.0),
    ("SGD", {}, "momentum", 0.9),
    ("SGD", {}, "weight_decay", 0.1),
    ("SGD", {"momentum": 0.9}, "nesterov", True),
    ("SGD", {}, "maximize", True),
    ("Adam", {}, "weight_decay", 0.1),
    ("Adam", {}, "amsgrad", True),
    ("Adam", {"maximize": True}, "maximize", False),
    ("AdamW", {"weight_decay": 0.0}, "weight_decay", 0.1),
    ("RMSprop", {}, "momentum", 0.1),
    ("RMSprop", {}, "centered", True),
    ("RMSprop", {}, "weight_decay", 0.1),
    ("RMSprop", {}, "maximize", True),
    ("Adagrad", {}, "weight_decay", 0.1),
    ("Adagrad", {}, "maximize", True),
    ("Lion", {}, "maximize", True),
    ("Adam", {"weight_decay": 0.1}, "decoupled_weight_decay", True),
    ("NAdam", {"weight_decay": 0.1}, "decoupled_weight_decay", True),
    ("RAdam", {"weight_decay": 0.1}, "decoupled_weight_decay", True),
    *((kind, {}, "maximize", True)
      for kind in ("Adamax", "NAdam", "RAdam", "Adadelta", "Rprop", "ASGD")),
    *((kind, {}, "weight_decay", 0.1) for kind in ("Adamax", "NAdam", "RAdam", "Adadelta", "ASGD")),
]  # fmt: skip

#: Settings that affect only the initial state.
INITIAL = {"Adagrad": {"initial_accumulator_value"}, "Rprop": {"lr"}}


class Steps:
    """Two parameters and an optimizer. Its steps are taken or replayed."""

    def __init__(self, bg: Any, kind: str, options: dict[str, Any], unless: bool = False) -> None:
        self.bg = bg
        values = np.random.default_rng(0).uniform(0.5, 1.5, (2, 6)).astype(np.float32)
        self.params = [bg.nn.Parameter(bg.asarray(one)) for one in values]
        self.optimizer = getattr(bg.optim, kind)(self.params, **options)
        self.skipped: Any = None
        self.schedule: Any = None
        self.step()
        if unless:
            self.skipped = bg.asarray(False)
            self.step()

    def step(self) -> None:
        self.optimizer.zero_grad()
        sum((x**3).sum() for x in self.params).backward()
        if self.skipped is None:
            self.optimizer.step()
        else:
            self.optimizer.step_unless(self.skipped)
        if self.schedule is not None:
            self.schedule.step()

    def captured(self, count: int = 1) -> Any:
        with self.bg.capture() as graph:
            for _ in range(count):
                self.step()
        return graph

    def values(self) -> list[np.ndarray]:
        states = [x for state in self.optimizer.state.values() for x in state.values()]
        return [np.asarray(x.detach() if hasattr(x, "detach") else x)
                for x in (*self.params, *states)]  # fmt: skip

    def agrees_with(self, other: Steps) -> None:
        for one, expected in zip(self.values(), other.values(), strict=True):
            np.testing.assert_allclose(one, expected, rtol=3e-6, atol=1e-7)


def _both(bg: Any, kind: str, options: dict[str, Any], unless: bool = False) -> tuple[Steps, Steps]:
    return Steps(bg, kind, options, unless), Steps(bg, kind, options, unless)


@pytest.mark.parametrize("unless", [False, True], ids=["step", "step_unless"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_replays_follow_settings(bg: Any, name: str, unless: bool) -> None:
    kind, options, changes = FOLLOWED[name]
    ours, theirs = _both(bg, kind, options, unless)
    graph = ours.captured()
    theirs.step()
    for setting, value in changes.items():
        before = ours.values()[0]
        for one in (ours, theirs):
            one.optimizer.param_groups[0][setting] = value
        graph.replay()
        theirs.step()
        ours.agrees_with(theirs)
        assert not np.array_equal(ours.values()[0], before)


@pytest.mark.parametrize("name", FOLLOWED)
def test_steps_bind_few_buffers(bg: Any, backend: Any, monkeypatch: Any, name: str) -> None:
    """Eight buffers, which all GPUs have, however many numbers the formula reads."""
    from browsergpu.arrays.lazy.trace import tracer_of

    kind, options, changes = FOLLOWED[name]
    ours, theirs = _both(bg, kind, options, unless=True)
    monkeypatch.setattr(tracer_of(backend.device).kernels, "most_leaves", 7)
    bound: list[int] = []
    observers = backend.device.recorder.observers
    monkeypatch.setattr(
        backend.device.recorder,
        "observers",
        [*observers, lambda pipeline, _: bound.append(pipeline.bindings)],
    )
    graph = ours.captured()
    assert max(bound) <= 8
    theirs.step()
    for one in (ours, theirs):
        one.optimizer.param_groups[0].update(changes)
    graph.replay()
    theirs.step()
    ours.agrees_with(theirs)


def test_all_settings_are_followed_or_refused(bg: Any) -> None:
    for kind in {kind for kind, _, _ in FOLLOWED.values()}:
        settings = set(getattr(bg.optim, kind)([bg.nn.Parameter(bg.ones(1))]).defaults)
        tested = {name for one, _, name, _ in REFUSED if one == kind}
        for one, _, changes in FOLLOWED.values():
            tested |= set(changes) if one == kind else set()
        if kind == "AdamW":
            tested |= {"amsgrad", "maximize", "decoupled_weight_decay"}  # computed by Adam's code
        assert settings - tested == INITIAL.get(kind, set()), kind


@pytest.mark.parametrize(("kind", "options", "name", "value"), REFUSED)
def test_replays_refuse_another_formula(
    bg: Any, kind: str, options: dict[str, Any], name: str, value: Any
) -> None:
    ours, theirs = _both(bg, kind, options)
    graph = ours.captured()
    theirs.step()
    group = ours.optimizer.param_groups[0]
    before, group[name] = group[name], value
    with pytest.raises(ValueError, match=f"{kind}: {name} .*Capture the step again"):
        graph.replay()
    ours.agrees_with(theirs)  # no step was taken
    group[name] = before
    graph.replay()
    theirs.step()
    ours.agrees_with(theirs)


@pytest.mark.parametrize(
    ("kind", "options"), [("SGD", {"momentum": 0.9}), ("Adam", {}), ("AdamW", {}), ("Lion", {})]
)
def test_one_cycle_moves_the_momentum_of_replays(
    bg: Any, kind: str, options: dict[str, Any]
) -> None:
    ours, theirs = _both(bg, kind, options)
    for one in (ours, theirs):
        one.schedule = bg.optim.lr_scheduler.OneCycleLR(one.optimizer, 0.05, total_steps=9)
    graph = ours.captured()
    theirs.step()
    for _ in range(6):
        graph.replay()
        theirs.step()
        ours.agrees_with(theirs)
    assert ours.optimizer.param_groups[0] | {"params": 0} == (
        theirs.optimizer.param_groups[0] | {"params": 0}
    )


def test_a_schedule_that_ends_the_momentum_is_refused(bg: Any) -> None:
    ours = Steps(bg, "SGD", {"momentum": 0.9})
    ours.schedule = bg.optim.lr_scheduler.OneCycleLR(
        ours.optimizer, 0.05, total_steps=10, base_momentum=0.0, anneal_strategy="linear"
    )
    graph = ours.captured()
    graph.replay()  # the momentum is 0 afterwards
    with pytest.raises(ValueError, match="momentum"):
        graph.replay()


def test_steps_of_one_block_have_their_own_settings(bg: Any) -> None:
    ours, theirs = _both(bg, "SGD", {"lr": 0.1})
    for one in (ours, theirs):
        one.schedule = bg.optim.lr_scheduler.ExponentialLR(one.optimizer, 0.5)
    graph = ours.captured(2)
    graph.replay()
    for _ in range(4):
        theirs.step()
    ours.agrees_with(theirs)


@pytest.mark.parametrize("unless", [False, True], ids=["step", "step_unless"])
def test_replays_go_on_from_a_state_that_was_loaded(bg: Any, unless: bool) -> None:
    ours, theirs = _both(bg, "Adam", {"lr": 0.05}, unless)
    graph = ours.captured()
    for _ in range(3):
        theirs.step()
    for own, other in zip(ours.params, theirs.params, strict=True):
        with bg.no_grad():
            own[...] = other.detach()
    ours.optimizer.load_state_dict(theirs.optimizer.state_dict())
    ours.agrees_with(theirs)
    for _ in range(2):
        graph.replay()
        theirs.step()
        ours.agrees_with(theirs)


def _load_nothing(bg: Any, ours: Steps) -> None:
    ours.optimizer.load_state_dict(bg.optim.Adam(ours.params).state_dict())


def _add(bg: Any, ours: Steps) -> None:
    ours.optimizer.add_param_group({"params": bg.nn.Parameter(bg.ones(2))})


def _count_on_the_gpu(bg: Any, ours: Steps) -> None:
    ours.optimizer.step_unless(bg.asarray(False))


@pytest.mark.parametrize("change", [_load_nothing, _add, _count_on_the_gpu])
def test_replays_refuse_other_parameters_and_states(
    bg: Any, change: Callable[[Any, Steps], None]
) -> None:
    ours = Steps(bg, "Adam", {})
    graph = ours.captured()
    change(bg, ours)
    with pytest.raises(ValueError, match="Capture the step again"):
        graph.replay()
    again = ours.captured()
    again.replay()


def test_replays_follow_the_settings_of_a_scaler(bg: Any) -> None:
    w = bg.nn.Parameter(bg.ones(1))
    optimizer = bg.optim.SGD([w], lr=0.0)
    scaler = bg.amp.GradScaler(4.0, growth_factor=2.0, growth_interval=1)

    def step() -> None:
        optimizer.zero_grad()
        scaler.scale(w.sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    step()
    with bg.capture() as graph:
        step()
    other = bg.amp.GradScaler(1.0, growth_factor=3.0, growth_interval=2)
    scaler.load_state_dict(other.state_dict())
    scales = []
    for _ in range(4):
        graph.replay()
        scales.append(scaler.get_scale())
    assert scales == [1, 3, 3, 9]
