"""The base of optimizers: parameter groups, states and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import enable_grad, no_grad
from browsergpu.arrays.autograd.variable import node_of
from browsergpu.arrays.graphs.hooks import checked, outside, repeated
from browsergpu.arrays.in_place import become
from browsergpu.arrays.indexing.assignment import check_writable
from browsergpu.arrays.update import Draft, update
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, elementwise
from browsergpu.networks.optimizers.kept import Kept, State
from browsergpu.networks.optimizers.settings import Group, Settings
from browsergpu.networks.states import without_gradient

_AGAIN = "Capture the step again."


class Ways(TypedDict, total=False):
    """Options that select PyTorch's implementation of a step. They have no effect on its result."""

    foreach: bool | None
    fused: bool | None
    capturable: bool
    differentiable: bool


def check_ways(op: str, ways: Ways) -> None:
    """Raise InvalidArgument for values that would have an effect, and TypeError for other names."""
    for name, value in ways.items():
        if name not in Ways.__annotations__:
            raise TypeError(f"{op}() got an unexpected keyword argument {name!r}")
        if value is not None:
            checks.flag(op, name, value)
    if ways.get("differentiable"):
        expected = "False, as steps are not recorded for gradients"
        raise InvalidArgument(op, "differentiable", True, expected)


class _Due(NamedTuple):
    """A parameter to update."""

    param: Array
    gradient: Array
    state: State
    group: Group


class ParameterStates(Mapping[Any, State]):
    """The states of an optimizer by parameter, of the parameters that have been updated."""

    def __init__(self, params: Sequence[Array], states: dict[int, State]) -> None:
        self._params, self._states = params, states

    def __getitem__(self, param: Any) -> State:
        """Return the state of a parameter. It is empty before the first step."""
        if id(param) not in self._states and not any(param is one for one in self._params):
            raise InvalidArgument("state", "param", param, "a parameter of the optimizer")
        return self._states.setdefault(id(param), {})

    def __contains__(self, param: object) -> bool:
        return bool(self._states.get(id(param)))

    def get(self, param: Any, default: Any = None) -> Any:
        """Return the state of a parameter, or the default before its first step."""
        return self._states.get(id(param)) or default

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[Array]:
        return (param for param in self._params if self._states.get(id(param)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        names = sorted({name for state in self.values() for name in state})
        return f"ParameterStates({len(self)} parameters, {', '.join(names) or 'no entries'})"


class Optimizer:
    """Base class of optimizers.

    ``step()`` updates all parameters that have a gradient, in place and on the GPU, without
    waiting. The new values are computed at once, so that recorded operations do not accumulate.
    States of float16 parameters are float32, and updates are computed in float32.

    Parameters
    ----------
    params : iterable
        Parameters, or groups: dicts with "params" and settings of their own.
    defaults : mapping
        Settings for groups that do not override them.
    """

    #: Whether the state includes the number of steps.
    _counts: ClassVar[bool] = False

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        self._op = type(self).__name__
        if not isinstance(defaults, Mapping):
            raise InvalidType(self._op, "defaults", defaults, "a dict of settings")
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self._states: dict[int, State] = {}  # by parameter id
        self._version = 0  # of the states; a captured graph uses one version
        if isinstance(params, Array):
            raise InvalidType(
                self._op, "params", Description("one array"), "an iterable of parameters"
            )
        given = list(params)
        if not given:
            raise InvalidArgument(self._op, "params", given, "parameters")
        for group in given if isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a group of parameters.

        Parameters
        ----------
        param_group : mapping
            "params" and settings. Missing settings are the defaults.

        Raises
        ------
        InvalidArgument
            If a setting is unknown, or if a parameter is in a group already.
        """
        op = "add_param_group"
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            raise InvalidType(op, "param_group", param_group, 'a dict with "params"')
        found = param_group["params"]
        params = [found] if isinstance(found, Array) else list(found)
        known = {id(p) for p in self._all()}
        for param in params:
            if not isinstance(param, Array) or param.dtype.kind != "f":
                raise InvalidType(op, "params", param, "float parameters")
            if not param.is_leaf:
                raise InvalidArgument(op, "params", Description("an operation's result"), "leaves")
            if id(param) in known:
                raise InvalidArgument(
                    op, "params", Description("a parameter twice"), "distinct parameters"
                )
            known.add(id(param))
        unknown = [name for name in param_group if name not in {"params", *self.defaults}]
        if unknown:
            expected = f"settings of {self._op}: {', '.join(self.defaults)}"
            raise InvalidArgument(op, "param_group", unknown, expected)
        group = {**self.defaults, **param_group, "params": params}
        self._check(group)
        self.param_groups.append(group)

    def _check(self, group: Group) -> None:
        """Raise InvalidArgument for invalid settings."""
        at_least(self._op, group, "lr", "weight_decay")

    def _decayed(self, x: Array, g: Array, settings: Settings) -> tuple[Array, Array]:
        """Return the parameter and the gradient after weight decay."""
        if settings.is_used("weight_decay"):
            can_decouple = "decoupled_weight_decay" in self.defaults
            if can_decouple and settings.is_set("decoupled_weight_decay"):
                x = x * settings.computed("decay", lambda now: 1 - now["lr"] * now["weight_decay"])
            else:
                g = g + x * settings.number("weight_decay")
        return x, g

    def _all(self) -> list[Array]:
        return [param for group in self.param_groups for param in group["params"]]

    @property
    def state(self) -> ParameterStates:
        """The state of each parameter, a dict of arrays and numbers, as in PyTorch."""
        return ParameterStates(self._all(), self._states)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Delete the parameters' gradients, or set them to zeros if not ``set_to_none``."""
        for param in self._all():
            without_gradient(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update each parameter that has a gradient.

        ``closure`` computes the loss and the gradients first. Its result is returned.

        A parameter may be a view of a larger array, whose other elements stay as they are.

        Raises
        ------
        InvalidArgument
            If a parameter is read-only, as a result of ``broadcast_to`` is. Nothing is changed.
        """
        found = None
        if closure is not None:
            with enable_grad():
                found = closure()
        self._take_step(None)
        return found

    def step_unless(self, skipped: Array) -> None:
        """Take a step if ``skipped`` is False, without waiting for the GPU.

        If it is True, parameters and states stay the same. From this call on, the GPU counts the
        steps, without skipped ones: "step" in the state is an array.

        Parameters
        ----------
        skipped : Array
            An array of one bool, without axes.

        Raises
        ------
        InvalidArgument
            If ``skipped`` is another array.
        """
        if not isinstance(skipped, Array) or skipped.shape != () or skipped.dtype != np.bool_:
            raise InvalidArgument("step_unless", "skipped", skipped, "an array of one bool")
        self._take_step(skipped)

    @exclusive
    def _take_step(self, skipped: Array | None) -> None:
        with no_grad():
            due = [
                _Due(param, gradient, self._states.setdefault(id(param), {}), group)
                for group in self.param_groups
                for param in group["params"]
                if (gradient := param.grad) is not None
            ]
            for one in due:
                for name, x in (("params", one.param), *one.state.items()):
                    if isinstance(x, Array):
                        check_writable(x, self._op, name)
            if skipped is not None:
                for one in due:
                    self._check_skippable(one.state, one.group)
            if self._counts and _count(due, skipped):
                self._version += 1
            step = object()
            for alike in _alike(due):
                self._change(alike, skipped, step)
            if due:
                checked(due[0].param, self._check_of_replays())

    def _check_skippable(self, state: State, group: Group) -> None:
        """Raise InvalidArgument if the next step must not be skipped."""

    def _check_of_replays(self) -> Callable[[], None]:
        """Return a function that raises if groups or states have changed since."""
        groups = [(group, len(group["params"])) for group in self.param_groups]
        version = self._version

        def check() -> None:
            now = self.param_groups
            if len(now) != len(groups) or any(
                one is not group or len(one["params"]) != count
                for one, (group, count) in zip(now, groups, strict=True)
            ):
                given, expected = Description("other groups"), "those of the block of capture()"
                raise InvalidArgument(self._op, "param_groups", given, expected, _AGAIN)
            if self._version != version:
                given, expected = Description("other arrays"), "those of the block of capture()"
                raise InvalidArgument(self._op, "state", given, expected, _AGAIN)

        return check

    def _change(self, due: Sequence[_Due], skipped: Array | None, step: object) -> None:
        """Update the parameters to which one formula applies."""
        param, gradient, state, group = due[0]
        draft = Draft(param.tracer.device)
        value, slope = draft.operand(node_of(param).kind), draft.operand(node_of(gradient).kind)
        kept = Kept(draft, state, 2, skipped)
        wide, slope = (x.astype(np.float32, copy=False) for x in (value, slope))
        # If the GPU counts steps, the count is a separate array, and all parameters share the
        # settings.
        come = None if kept.counted is not None else state.get("step")
        settings = Settings(self._op, wide, draft, group, (step, id(group), come))
        if settings.is_set("maximize"):
            slope = -slope
        found = kept.chosen(wide, self._changed(wide, slope, kept, settings))
        draft.result(found.astype(value.dtype, copy=False), 0)
        if kept.begun:
            with outside(param):
                for one in due:
                    for name, number in kept.begun.items():
                        one.state[name] = creation.full_like(one.param, number, dtype="float32")
        rows = [[one.param, one.gradient, *(one.state[name] for name in kept.names)] for one in due]
        for one, made in zip(due, update(self._op, draft.formula(self._op), rows), strict=True):
            one.state.update(zip(kept.made, made, strict=True))

    def _changed(self, x: Array, g: Array, state: Kept, settings: Settings) -> Array:
        """Return a parameter's new value from its value and gradient, in float32.

        Only elementwise operations are allowed. The recorded formula runs for all parameters.
        """
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return the settings and the states.

        "param_groups" are the groups, with numbers as "params". "state" has the states by these
        numbers, as copies of the current arrays.
        """
        number = {id(param): n for n, param in enumerate(self._all())}
        groups = [
            {**group, "params": [number[id(param)] for param in group["params"]]}
            for group in self.param_groups
        ]
        copies: dict[int, Any] = {}  # parameters can share a count of steps
        state = {
            number[key]: {name: _copied(x, copies) for name, x in own.items()}
            for key, own in self._states.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from the state of an optimizer with parameters of the same shapes and order.

        Arrays may be NumPy's. Captured graphs continue from the new state. If it has other names
        than the state that a graph uses, as before a first step, replays of the graph raise an
        error.

        Raises
        ------
        InvalidArgument
            If the state does not fit. Nothing is changed.
        """
        op = "load_state_dict"
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= {*state_dict}:
            raise InvalidType(op, "state_dict", state_dict, "a dict from state_dict()")
        groups = state_dict["param_groups"]
        counts = [len(group["params"]) for group in groups]
        own = [len(group["params"]) for group in self.param_groups]
        if counts != own:
            raise InvalidArgument(op, "param_groups", counts, f"have groups of {own} parameters")
        numbers = [n for group in groups for n in group["params"]]
        params = dict(zip(numbers, self._all(), strict=True))
        states = {}
        copies: dict[int, Any] = {}
        for number, kept in state_dict["state"].items():
            if number not in params:
                raise InvalidArgument(op, "state", number, "numbers of parameters")
            states[id(params[number])] = {
                name: self._loaded(name, x, params[number], copies) for name, x in kept.items()
            }
        merged = [
            {**group, **given, "params": group["params"]}
            for group, given in zip(self.param_groups, groups, strict=True)
        ]
        for group in merged:
            self._check(group)
        self._take_states(states)
        for group, new in zip(self.param_groups, merged, strict=True):
            group.update(new)

    def _loaded(self, name: str, x: Any, param: Array, copies: dict[int, Any]) -> Any:
        """Return an entry of a loaded state, with copies of its arrays."""
        if not isinstance(x, Array | np.ndarray):
            return x
        shape = () if name == "step" else param.shape
        if x.shape != shape:
            raise InvalidArgument("load_state_dict", name, x, f"have shape {shape}")
        if isinstance(x, Array):
            return copies.setdefault(id(x), x.detach().copy().to_device(param.device))
        return int(x) if name == "step" else creation.asarray(x, device=param.device)

    def _take_states(self, states: dict[int, State]) -> None:
        """Replace the states. Existing arrays are kept if they fit, since graphs use them."""
        for key, own in self._states.items():
            new = states.get(key, {})
            if _form(own) == _form(new):
                for name, x in new.items():
                    if isinstance(x, Array):
                        become(own[name], x)
                    else:
                        own[name] = x
                states[key] = own
            else:
                self._version += 1
        self._states = states

    def __getstate__(self) -> dict[str, Any]:
        """Return the states by position, because copies of parameters have other ids."""
        states = [self._states.get(id(param), {}) for param in self._all()]
        return {**self.__dict__, "_states": states}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._states = {
            id(param): own for param, own in zip(self._all(), state["_states"], strict=True) if own
        }

    def __repr__(self) -> str:
        lines = []
        for n, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {n}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return f"{self._op} (\n" + "\n".join(lines) + "\n)"


def _form(state: State) -> dict[str, Any]:
    """Return the names of a state, with the dtypes of its arrays."""
    return {name: x.dtype if isinstance(x, Array) else None for name, x in state.items()}


def at_least(op: str, group: Group, *names: str) -> None:
    """Raise InvalidArgument if a setting is not a number of at least 0. Skip missing settings."""
    for name in names:
        if name in group and checks.real(op, name, group[name]) < 0:
            raise InvalidArgument(op, name, group[name], "a number of at least 0")


def below_one(op: str, group: Group, name: str) -> None:
    """Raise InvalidArgument if a setting, or one of a pair, is outside [0, 1)."""
    value = group[name]
    given = value if isinstance(value, tuple | list) else (value,)
    if name == "betas" and len(given) != 2:
        raise InvalidArgument(op, name, value, "two numbers")
    if any(not 0 <= checks.real(op, name, one) < 1 for one in given):
        raise InvalidArgument(op, name, value, "numbers of at least 0 and below 1")


def _alike(due: Iterable[_Due]) -> Iterable[list[_Due]]:
    """Group parameters to which one formula applies.

    They have the same device, dtypes and settings, and the same number of steps.
    """
    found: dict[Any, list[_Due]] = {}
    for one in due:
        names = frozenset(name for name, x in one.state.items() if isinstance(x, Array))
        for name in names:
            if node_of(one.state[name]).kind is not FLOAT32:  # loaded by the user
                one.state[name] = one.state[name].astype(np.float32)
        kinds = node_of(one.param).kind.number, node_of(one.gradient).kind.number
        step = one.state.get("step")
        come = id(step) if isinstance(step, Array) else step
        key = id(one.group), id(one.param.tracer), kinds, come, names
        found.setdefault(key, []).append(one)
    return found.values()


def _count(due: Sequence[_Due], skipped: Array | None) -> bool:
    """Count a step, on the host or on the GPU, and return whether GPU counting started.

    The GPU counts once a step may be skipped. Parameters with equal counts share one array.
    """
    begun: dict[int, Array] = {}
    if skipped is not None:
        for one in due:
            count = one.state.get("step", 0)
            if not isinstance(count, Array):
                if count not in begun:
                    with outside(one.param):
                        begun[count] = creation.full(
                            (), count, dtype="float32", device=one.param.device
                        )
                one.state["step"] = begun[count]
    counts = {id(step): step for one in due if isinstance(step := one.state.get("step"), Array)}
    for count in counts.values():
        now = count + 1
        become(count, now if skipped is None else elementwise.where(skipped, count, now))
    states = [one.state for one in due if not isinstance(one.state.get("step"), Array)]
    if states:
        repeated(due[0].param, lambda: _count_on_host(states))
    return bool(begun)


def _count_on_host(states: Iterable[State]) -> None:
    for state in states:
        state["step"] = state.get("step", 0) + 1


def _copied(x: Any, copies: dict[int, Any]) -> Any:
    """Return a copy of an array, or a list with copies of arrays. Other objects stay."""
    if isinstance(x, list):
        return [_copied(one, copies) for one in x]
    return copies.setdefault(id(x), x.detach().copy()) if isinstance(x, Array) else x
