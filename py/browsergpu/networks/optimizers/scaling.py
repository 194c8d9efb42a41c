"""Loss scaling, which prevents underflow of float16 gradients."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import isfinite
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.arrays.autograd.variable import node_of, plain
from browsergpu.arrays.graphs.hooks import each_time, outside
from browsergpu.arrays.in_place import become
from browsergpu.arrays.update import Draft, update_if_any
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.fused.row_update import FLAG, NEW
from browsergpu.functions import creation, elementwise, evaluation, manipulation, statistics
from browsergpu.networks.optimizers.optimizer import Optimizer


class _Stage(Enum):
    """Progress of an optimizer's step."""

    UNSCALED = "unscaled already"
    STEPPED = "stepped already"


_SETTINGS = ("growth_factor", "backoff_factor", "growth_interval")


class GradScaler(Shown):
    """Scales losses up and gradients down, by an adaptive factor, as ``torch.amp.GradScaler``.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    A step whose gradients have an infinity or NaN is skipped: parameters, states and step counts
    stay the same. The scale is then multiplied by ``backoff_factor``. After ``growth_interval``
    steps without one it is multiplied by ``growth_factor``. Only the GPU knows whether a step was
    skipped. No call waits, and all calls can be in a block of ``capture()``. Learning rate
    schedulers also count skipped steps, as in PyTorch by default.

    All parameters of an optimizer must be on one device. ``unscale_`` converts gradients of float16
    parameters to float32, in which they do not underflow.

    Parameters
    ----------
    init_scale : float
        Initial scale.
    growth_factor, backoff_factor : float
        Factors of the scale, above 1 and below 1.
    growth_interval : int
        Number of steps before the scale grows.
    enabled : bool
        False disables scaling.

    Notes
    -----
    Source: Micikevicius et al., "Mixed precision training", arXiv 1710.03740.
    """

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        op = "GradScaler"
        self._enabled = checks.flag(op, "enabled", enabled)
        self._growth_factor = _above(op, "growth_factor", growth_factor, 1)
        self._backoff_factor = _above(op, "backoff_factor", backoff_factor, 0)
        if self._backoff_factor >= 1:
            raise InvalidArgument(op, "backoff_factor", backoff_factor, "a number below 1")
        self._growth_interval = checks.integer(op, "growth_interval", growth_interval, 1)
        self._begins_with: Any = _above(op, "init_scale", init_scale, 0)
        self._grown_for: Any = 0
        self._scale: Array | None = None
        self._tracker: Array | None = None
        self._optimizers: dict[int, tuple[Optimizer, _Stage, Array]] = {}

    def is_enabled(self) -> bool:
        """Return whether scaling is enabled."""
        return self._enabled

    def scale(self, outputs: Any) -> Any:
        """Multiply an array, or each array of a list or tuple, by the scale, in float32."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, list | tuple):
            return type(outputs)([self.scale(one) for one in outputs])
        if not isinstance(outputs, Array):
            raise InvalidType("scale", "outputs", outputs, "an array, or a list or tuple of them")
        return elementwise.multiply(outputs, self._of(outputs))

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, float32 ones in place.

        Call it before clipping gradients, for example. ``step`` does not unscale them again.

        Raises
        ------
        InvalidArgument
            If they were unscaled since the last ``update``, or if no loss was scaled.
        """
        if self._enabled:
            self._check("unscale_", optimizer)
            if id(optimizer) in self._optimizers:
                given = self._optimizers[id(optimizer)][1].value
                raise InvalidArgument("unscale_", "optimizer", given, "unscaled once per update()")
            found = self._unscaled("unscale_", optimizer)
            self._optimizers[id(optimizer)] = (optimizer, _Stage.UNSCALED, found)

    def step(self, optimizer: Optimizer) -> None:
        """Unscale the gradients, unless ``unscale_`` did, and take a step if all are finite.

        Raises
        ------
        InvalidArgument
            If a step was taken since the last ``update``.
        """
        self._check("step", optimizer)
        if not self._enabled:
            optimizer.step()
            return
        _, stage, found = self._optimizers.get(id(optimizer), (None, None, None))
        if stage is _Stage.STEPPED:
            raise InvalidArgument("step", "optimizer", stage.value, "stepped once per update()")
        if found is None:
            found = self._unscaled("step", optimizer)
        optimizer.step_unless(found)
        self._optimizers[id(optimizer)] = (optimizer, _Stage.STEPPED, found)

    @no_grad()
    def update(self, new_scale: float | None = None) -> None:
        """Adjust the scale for the next steps, or set it to ``new_scale``.

        Raises
        ------
        InvalidArgument
            If no step was taken and no gradient unscaled since the last update.
        """
        if not self._enabled:
            return
        scale, tracker = self._scale, self._tracker
        if not self._optimizers or scale is None or tracker is None:
            expected = "made after step(optimizer) or unscale_(optimizer)"
            raise InvalidArgument(
                "update", "call", Description("a call before any gradient was unscaled"), expected
            )
        if new_scale is not None:
            value = _above("update", "new_scale", new_scale, 0)
            become(scale, creation.full_like(scale, value))
        else:
            bad = _any([found for _, _, found in self._optimizers.values()])
            count = elementwise.where(bad, 0.0, tracker + 1)
            is_due = elementwise.greater_equal(count, self._setting(scale, "_growth_interval"))
            grown = scale * self._setting(scale, "_growth_factor")
            grown = elementwise.where(elementwise.isfinite(grown), grown, scale)
            now = elementwise.where(is_due, grown, scale)
            become(tracker, elementwise.where(is_due, 0.0, count))
            become(
                scale, elementwise.where(bad, scale * self._setting(scale, "_backoff_factor"), now)
            )
        evaluation.eval(scale, tracker)
        self._optimizers.clear()

    def _setting(self, like: Array, name: str) -> Any:
        """Return a setting in such a way that replays follow its changes."""
        return each_time(like, (id(self), name), lambda: getattr(self, name))

    def get_scale(self) -> float:
        """Return the scale, or 1 if scaling is disabled. Waits for the GPU."""
        if not self._enabled:
            return 1.0
        return float(self._begins_with if self._scale is None else self._scale)

    async def get_scale_async(self) -> float:
        """Return the scale, as :meth:`get_scale` does, without blocking."""
        if self._enabled and self._scale is not None:
            await self._scale.ready()
        return self.get_scale()

    def state_dict(self) -> dict[str, Any]:
        """Return the settings, the scale, and the number of steps since its last change.

        The number of steps is "_growth_tracker". Both are arrays once a loss was scaled. The dict
        is empty if scaling is disabled.
        """
        if not self._enabled:
            return {}
        scale, tracker = self._scale, self._tracker
        return {
            "scale": self._begins_with if scale is None else scale.copy(),
            **{name: getattr(self, f"_{name}") for name in _SETTINGS},
            "_growth_tracker": self._grown_for if tracker is None else tracker.copy(),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state, whose arrays may be NumPy's or numbers.

        Raises
        ------
        InvalidArgument
            If it is not a state of a GradScaler. Nothing is changed.
        """
        if not self._enabled:
            return
        op = "load_state_dict"
        expected = {"scale", "_growth_tracker", *_SETTINGS}
        if not isinstance(state_dict, Mapping) or {*state_dict} != expected:
            given = sorted(state_dict) if isinstance(state_dict, Mapping) else state_dict
            raise InvalidArgument(op, "state_dict", given, f"a dict of {sorted(expected)}")
        made = GradScaler(1.0, *(state_dict[name] for name in _SETTINGS))
        values = [_number(op, name, state_dict[name]) for name in ("scale", "_growth_tracker")]
        for name in _SETTINGS:
            setattr(self, f"_{name}", getattr(made, f"_{name}"))
        self._begins_with, self._grown_for = values
        self._optimizers.clear()
        for own, value in ((self._scale, values[0]), (self._tracker, values[1])):
            if own is not None:  # a graph may use it
                become(own, _on(own, value))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling.

        Raises InvalidArgument between a step and its ``update``, when it refers to optimizers.
        """
        if self._optimizers:
            raise InvalidArgument(
                "pickle",
                "GradScaler",
                Description("a scaler within a step"),
                "pickled after update()",
            )
        return self.__dict__

    def _of(self, like: Array) -> Array:
        """Return the scale as an array on the device of ``like``."""
        if self._scale is None:
            with no_grad(), outside(like):
                self._scale = _on(like, self._begins_with)
                self._tracker = _on(like, self._grown_for)
        return self._scale

    def _check(self, op: str, optimizer: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            raise InvalidType(op, "optimizer", optimizer, "an Optimizer")

    @no_grad()
    def _unscaled(self, op: str, optimizer: Optimizer) -> Array:
        """Divide the gradients by the scale. Return whether any has an infinity or NaN."""
        params = [x for group in optimizer.param_groups for x in group["params"]]
        known = [(x, gradient) for x in params if (gradient := x.grad) is not None]
        if self._scale is None or not known:
            expected = "an optimizer whose parameters have gradients of a loss from scale()"
            raise InvalidArgument(
                op, "optimizer", Description("an optimizer without them"), expected
            )
        return _divided(op, known, 1 / self._scale)


@exclusive
def _divided(op: str, known: list[tuple[Array, Array]], factor: Array) -> Array:
    """Multiply the gradients of parameters. Return whether a product has an infinity or NaN.

    A few kernels do both. Gradients of float32 are written in place, and others get new memory.
    """
    alike: dict[tuple[ElementType, bool], dict[tuple[Any, ...], tuple[Array, list[Array]]]] = {}
    for param, gradient in known:
        node = node_of(gradient).in_memory()
        is_in_place = (
            node.kind is FLOAT32 and not node.is_read_only and type(gradient) not in INTERCEPTED
        )
        own = alike.setdefault((node.kind, is_in_place), {})
        place = node.storage, node.shape, node.strides, node.offset  # arrays may share a gradient
        own.setdefault(place, (gradient, []))[1].append(param)
    found = None
    for (kind, is_in_place), rows in alike.items():
        draft = Draft(factor.tracer.device)
        product = draft.operand(kind).astype(np.float32, copy=False) * draft.number(factor)
        draft.result(product, 0 if is_in_place else NEW)
        draft.result(elementwise.logical_not(elementwise.isfinite(product)), FLAG)
        arrays = [[one if is_in_place else plain(one)] for one, _ in rows.values()]
        made, found = update_if_any(op, draft.formula(op), arrays, found)
        if not is_in_place:
            for (_, params), (new,) in zip(rows.values(), made, strict=True):
                for param in params:
                    param.grad = new
    assert found is not None
    return found


def _any(found: list[Array]) -> Array:
    return found[0] if len(found) == 1 else statistics.any(manipulation.stack(found))


def _above(op: str, name: str, value: Any, least: float) -> float:
    found = checks.real(op, name, value)
    if not least < found or not isfinite(found):
        raise InvalidArgument(op, name, value, f"a number above {least}")
    return found


def _number(op: str, name: str, x: Any) -> Any:
    """Return a number, or a copy of a one-element array."""
    if not isinstance(x, Array | np.ndarray):
        return checks.real(op, name, x)
    if x.shape != () or x.dtype.kind != "f":
        raise InvalidArgument(op, name, x, "a number or an array of one")
    return x.detach().copy() if isinstance(x, Array) else float(x)


def _on(like: Array, value: Any) -> Array:
    """Return a number, or a one-element array, as float32 on the device of ``like``."""
    if isinstance(value, Array):
        return value.to_device(like.device).astype(np.float32, copy=True)
    return creation.full((), value, dtype="float32", device=like.device)
