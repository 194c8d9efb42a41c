"""Window functions of signals."""

from __future__ import annotations

import math
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.functions import creation, data_types, elementwise
from browsergpu.torch.tensors.creation import check_layout, finished
from browsergpu.torch.tensors.devices import device_of
from browsergpu.torch.tensors.dtypes import default_float, dtype_of
from browsergpu.torch.tensors.public import public


def _window(name: str, shape: Any, **defaults: float) -> None:
    def function(
        window_length: int, periodic: bool = True, *args: float, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, **given: float,
    ) -> Any:  # fmt: skip
        count = checks.integer(name, "window_length", window_length)
        options = defaults | dict(zip(defaults, args, strict=False)) | given
        if len(args) > len(defaults) or options.keys() != defaults.keys():
            raise TypeError(f"{name}() got unexpected arguments")
        check_layout(name, layout, pin_memory)
        device_of(name, device)
        steps = count if periodic else count - 1
        places = creation.arange(count, dtype="float32") / max(steps, 1)
        found = shape(places, **options) if count > 1 else creation.ones((count,))
        kind = dtype_of(name, dtype) or default_float()
        return finished(data_types.astype(found, kind, copy=False), requires_grad)

    function.__name__ = name
    function.__doc__ = f"Return a window of a signal, as ``torch.{name}``."
    public(name, method=False)(function)


def _cosines(x: Any, *factors: float) -> Any:
    """Return the sum of factor n times cos(2 π n x)."""
    found = factors[0]
    for n, factor in enumerate(factors[1:], 1):
        found = elementwise.cos(x * (2 * math.pi * n)) * factor + found
    return found


_window("hann_window", lambda x: _cosines(x, 0.5, -0.5))
_window("hamming_window", lambda x, alpha, beta: _cosines(x, alpha, -beta), alpha=0.54, beta=0.46)
_window("blackman_window", lambda x: _cosines(x, 0.42, -0.5, 0.08))
_window("bartlett_window", lambda x: 1 - elementwise.abs(2 * x - 1))
