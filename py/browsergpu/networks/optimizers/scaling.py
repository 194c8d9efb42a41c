"""Losses that are scaled, so that gradients of float16 do not underflow."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import isfinite
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.graphs.hooks import each_time, outside
from browsergpu.arrays.in_place import become
from browsergpu.arrays.tracking.recording import no_grad
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description, Shown
from browsergpu.functions import creation, elementwise, evaluation, manipulation, statistics
from browsergpu.networks.optimizers.optimizer import Optimizer


class _Stage(Enum):
    """How far an optimiser's step is."""

    UNSCALED = "unscaled already"
    STEPPED = "one whose step was taken already"


_SETTINGS = ("growth_factor", "backoff_factor", "growth_interval")


class GradScaler(Shown):
    """Scales losses up and gradients down again, by a number that it finds out, as
    ``torch.amp.GradScaler``:

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    A step whose gradients have an infinity or NaN is skipped: parameters, states and the counts of
    steps stay as they are. The scale is multiplied by ``backoff_factor`` then, and by
    ``growth_factor`` after ``growth_interval`` steps without one. Whether there was one is known on
    the GPU alone: nothing waits, and all of it may stand in a block of ``capture()``. Schedules of
    learning rates count the steps that were skipped, too, as they do in PyTorch where they are not
    told. Not ``enabled`` it does what would be done without it.

    All parameters of an optimiser are on one device. Gradients of float16 parameters become float32
    by ``unscale_``, in which they do not underflow.

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
        """Whether it does anything."""
        return self._enabled

    def scale(self, outputs: Any) -> Any:
        """An array, or a list or tuple of such, times the scale; float32."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, list | tuple):
            return type(outputs)([self.scale(one) for one in outputs])
        if not isinstance(outputs, Array):
            raise InvalidType("scale", "outputs", outputs, "an array, or a list or tuple of them")
        return elementwise.multiply(outputs, self._of(outputs))

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimiser's parameters by the scale, where they are: before
        they are clipped. ``step`` does not do it again then. Raises InvalidArgument where it was
        done since the last ``update``, and where nothing was scaled."""
        if self._enabled:
            self._check("unscale_", optimizer)
            if id(optimizer) in self._optimizers:
                given = self._optimizers[id(optimizer)][1].value
                raise InvalidArgument("unscale_", "optimizer", given, "one call before an update()")
            found = self._unscaled("unscale_", optimizer)
            self._optimizers[id(optimizer)] = (optimizer, _Stage.UNSCALED, found)

    def step(self, optimizer: Optimizer) -> None:
        """Unscales the gradients, unless ``unscale_`` did, and takes the optimiser's step where all
        of them are finite. Raises InvalidArgument where it was taken since the last ``update``."""
        self._check("step", optimizer)
        if not self._enabled:
            optimizer.step()
            return
        _, stage, found = self._optimizers.get(id(optimizer), (None, None, None))
        if stage is _Stage.STEPPED:
            raise InvalidArgument("step", "optimizer", stage.value, "one step before an update()")
        if found is None:
            found = self._unscaled("step", optimizer)
        optimizer.step_unless(found)
        self._optimizers[id(optimizer)] = (optimizer, _Stage.STEPPED, found)

    @no_grad()
    def update(self, new_scale: float | None = None) -> None:
        """Another scale for the next steps: by what was found in the gradients, or ``new_scale``.
        Raises InvalidArgument where no step was taken, or no gradient unscaled, since the last."""
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
        """A setting, which replays follow."""
        return each_time(like, (id(self), name), lambda: getattr(self, name))

    def get_scale(self) -> float:
        """The scale; 1 where it is not enabled. Waits for the GPU."""
        if not self._enabled:
            return 1.0
        return float(self._begins_with if self._scale is None else self._scale)

    async def get_scale_async(self) -> float:
        """:meth:`get_scale` for callers that cannot block."""
        if self._enabled and self._scale is not None:
            await self._scale.ready()
        return self.get_scale()

    def state_dict(self) -> dict[str, Any]:
        """The settings; the scale and how many steps it has stood, "_growth_tracker", are arrays
        once something was scaled. Empty where it is not enabled."""
        if not self._enabled:
            return {}
        scale, tracker = self._scale, self._tracker
        return {
            "scale": self._begins_with if scale is None else scale.copy(),
            **{name: getattr(self, f"_{name}") for name in _SETTINGS},
            "_growth_tracker": self._grown_for if tracker is None else tracker.copy(),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a state. Its arrays may be NumPy's or numbers. Raises InvalidArgument where
        it is none; nothing is changed then."""
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
            if own is not None:  # which a graph may have
                become(own, _on(own, value))

    def __getstate__(self) -> dict[str, Any]:
        """Raises InvalidArgument between a step and its ``update``, where it knows optimisers."""
        if self._optimizers:
            raise InvalidArgument(
                "pickle",
                "GradScaler",
                Description("a scaler within a step"),
                "pickled after update()",
            )
        return self.__dict__

    def _of(self, like: Array) -> Array:
        """The scale on an array's device."""
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
        """Whether there is an infinity or NaN in the gradients, which are divided by the scale."""
        params = [x for group in optimizer.param_groups for x in group["params"]]
        known = [(x, gradient) for x in params if (gradient := x.grad) is not None]
        if self._scale is None or not known:
            expected = "an optimizer whose parameters have gradients of a loss that scale() gave"
            raise InvalidArgument(
                op, "optimizer", Description("an optimizer without them"), expected
            )
        factor = 1 / self._scale
        found = []
        for param, gradient in known:
            param.grad = gradient.astype(np.float32, copy=False) * factor
            found.append(elementwise.logical_not(statistics.all(elementwise.isfinite(param.grad))))
        return _any(found)


def _any(found: list[Array]) -> Array:
    return found[0] if len(found) == 1 else statistics.any(manipulation.stack(found))


def _above(op: str, name: str, value: Any, least: float) -> float:
    found = checks.real(op, name, value)
    if not least < found or not isfinite(found):
        raise InvalidArgument(op, name, value, f"a number above {least}")
    return found


def _number(op: str, name: str, x: Any) -> Any:
    """A number, or an array of one, which stays as it is."""
    if not isinstance(x, Array | np.ndarray):
        return checks.real(op, name, x)
    if x.shape != () or x.dtype.kind != "f":
        raise InvalidArgument(op, name, x, "a number or an array of one")
    return x.detach().copy() if isinstance(x, Array) else float(x)


def _on(like: Array, value: Any) -> Array:
    """A number, which may be an array of one, as float32 on an array's device."""
    if isinstance(value, Array):
        return value.to_device(like.device).astype(np.float32, copy=True)
    return creation.full((), value, dtype="float32", device=like.device)
