"""What all optimisers have: groups of parameters, a state for each, and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from browsergpu.array.array import Array
from browsergpu.array.functions import creation
from browsergpu.array.graphs.hooks import block_of, each_time, outside, repeated
from browsergpu.array.tracking.recording import enable_grad, no_grad
from browsergpu.array.tracking.variable import node_of
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.turns import TURN
from browsergpu.networks.parameter import take
from browsergpu.networks.states import without_gradient

Group = dict[str, Any]
#: What is kept of a parameter from step to step: arrays, and whole numbers.
State = dict[str, Any]


class Optimizer:
    """The base of optimisers: ``params`` are parameters, or dicts with "params" and settings of
    their own, groups.

    ``step()`` changes all parameters that have a gradient, in place and on the GPU: it waits for
    nothing, and has the new values computed at once, so that what was recorded for them does not
    grow. Of float16 parameters the state, and what is computed, is float32.
    """

    #: Whether the state has the number of the step.
    _counts: ClassVar[bool] = False

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        self._op = type(self).__name__
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self._states: dict[int, State] = {}  # by the parameters' ids, which the groups hold
        if isinstance(params, Array):
            raise InvalidType(self._op, "params", "an array", "an iterable of parameters")
        given = list(params)
        if not given:
            raise InvalidArgument(self._op, "params", given, "parameters")
        for group in given if isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """More parameters, "params", with settings that are those of all where they are not given.
        Raises InvalidArgument for settings that there are none of, and for parameters that are here
        already."""
        op = "add_param_group"
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            raise InvalidType(op, "param_group", param_group, 'a dict with "params"')
        found = param_group["params"]
        params = [found] if isinstance(found, Array) else list(found)
        known = {id(p) for p in self._all()}
        for param in params:
            if not isinstance(param, Array) or param.dtype.kind != "f":
                raise InvalidType(op, "params", param, "parameters of floats")
            if not param.is_leaf:
                raise InvalidArgument(op, "params", "an operation's result", "parameters")
            if id(param) in known:
                raise InvalidArgument(op, "params", "a parameter twice", "each one once")
            known.add(id(param))
        unknown = [name for name in param_group if name not in {"params", *self.defaults}]
        if unknown:
            expected = f"settings of {self._op}: {', '.join(self.defaults)}"
            raise InvalidArgument(op, "param_group", unknown, expected)
        group = {**self.defaults, **param_group, "params": params}
        self._check(group)
        self.param_groups.append(group)

    def _check(self, group: Group) -> None:
        """Raises for settings that are none."""
        at_least(self._op, group, "lr", "weight_decay")

    def _all(self) -> list[Array]:
        return [param for group in self.param_groups for param in group["params"]]

    @property
    def state(self) -> list[State]:
        """What is kept of each parameter, in their order."""
        return [self._states.get(id(param), {}) for param in self._all()]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Lets go of the parameters' gradients, or, not ``set_to_none``, makes them zeros."""
        for param in self._all():
            without_gradient(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes each parameter that has a gradient. A ``closure`` computes the loss and the
        gradients before, and is what this returns."""
        found = None
        if closure is not None:
            with enable_grad():
                found = closure()
        new: list[Array] = []
        with TURN, no_grad():
            due = [
                (param, gradient, self._states.setdefault(id(param), {}), group)
                for group in self.param_groups
                for param in group["params"]
                if (gradient := param.grad) is not None
            ]
            if due and self._counts:
                states = [state for _, _, state, _ in due]
                repeated(due[0][0], lambda: _count(states))
            for param, gradient, state, group in due:
                self._change(param, gradient, state, group)
                new += [param, *(x for x in state.values() if isinstance(x, Array))]
            for one in new:
                node_of(one).in_memory()
        return found

    def _change(self, param: Array, gradient: Array, state: State, group: Group) -> None:
        value = param.detach()
        wide = value.astype(np.float32, copy=False)
        slope = gradient.astype(np.float32, copy=False)
        if group.get("maximize", False):
            slope = -slope
        take(param, self._changed(wide, slope, state, group))

    def _changed(self, x: Array, g: Array, state: State, group: Group) -> Array:
        """The new value of a parameter, of its value and its gradient; float32."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state: ``param_groups``, whose "params" are numbers, and ``state``
        by these, arrays of the values that they have now."""
        number = {id(param): n for n, param in enumerate(self._all())}
        groups = [
            {**group, "params": [number[id(param)] for param in group["params"]]}
            for group in self.param_groups
        ]
        state = {
            number[key]: {name: _copied(x) for name, x in own.items()}
            for key, own in self._states.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a state of an optimiser of parameters of the same shapes, in the same order.
        Its arrays may be NumPy's. Raises InvalidArgument where it does not fit; nothing is changed
        then."""
        op = "load_state_dict"
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= {*state_dict}:
            expected = "what state_dict() gives"
            raise InvalidType(op, "state_dict", type(state_dict).__name__, expected)
        groups = state_dict["param_groups"]
        counts = [len(group["params"]) for group in groups]
        own = [len(group["params"]) for group in self.param_groups]
        if counts != own:
            raise InvalidArgument(op, "param_groups", counts, f"groups of {own} parameters")
        numbers = [n for group in groups for n in group["params"]]
        params = dict(zip(numbers, self._all(), strict=True))
        states = {}
        for number, kept in state_dict["state"].items():
            if number not in params:
                raise InvalidArgument(op, "state", number, "numbers of parameters")
            states[id(params[number])] = {
                name: _loaded(op, name, x, params[number]) for name, x in kept.items()
            }
        merged = [
            {**group, **given, "params": group["params"]}
            for group, given in zip(self.param_groups, groups, strict=True)
        ]
        for group in merged:
            self._check(group)
        self._states = states
        for group, new in zip(self.param_groups, merged, strict=True):
            group.update(new)

    def __repr__(self) -> str:
        lines = []
        for n, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {n}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return f"{self._op} (\n" + "\n".join(lines) + "\n)"


def at_least(op: str, group: Group, *names: str) -> None:
    """Raises where settings are no numbers of at least 0; those that are not there are none."""
    for name in names:
        if name in group and checks.real(op, name, group[name]) < 0:
            raise InvalidArgument(op, name, group[name], "a number of at least 0")


def below_one(op: str, group: Group, name: str) -> None:
    """Raises where a setting, or a pair of them, is not from 0 up to, but not, 1."""
    value = group[name]
    given = value if isinstance(value, tuple | list) else (value,)
    if name == "betas" and len(given) != 2:
        raise InvalidArgument(op, name, value, "two numbers")
    if any(not 0 <= checks.real(op, name, one) < 1 for one in given):
        raise InvalidArgument(op, name, value, "numbers from 0 up to, but not, 1")


def kept(state: State, name: str, like: Array, value: float = 0.0) -> Array:
    """An array of the state, which begins with one value everywhere."""
    found = state.get(name)
    if found is None:
        with outside(like):
            found = creation.full_like(like, value)
        if block_of(like) is not None:  # whose replays go on from what the last one has put there
            state[name] = found
    return found


def keep(state: State, name: str, value: Array) -> Array:
    """Another value for an array of the state, which stays the array that it is."""
    found = state.get(name)
    if found is None:
        state[name] = value
    else:
        found.become(value)
    return value


def rate(x: Array, group: Group, state: State, name: str, value: Callable[[], float]) -> Any:
    """A number of the step that is taken: the same one for all parameters of a group that have
    come as far."""
    return each_time(x, (id(group), state.get("step"), name), value)


def _count(states: Iterable[State]) -> None:
    for state in states:
        state["step"] = state.get("step", 0) + 1


def _copied(x: Any) -> Any:
    return x.detach() if isinstance(x, Array) else x


def _loaded(op: str, name: str, x: Any, param: Array) -> Any:
    if not isinstance(x, Array | np.ndarray):
        return x
    if x.shape != param.shape:
        raise InvalidArgument(op, name, f"an array of shape {x.shape}", f"shape {param.shape}")
    if isinstance(x, Array):
        return x.detach().to_device(param.device)
    return creation.asarray(x, device=param.device)
