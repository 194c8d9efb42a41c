"""pytest plugin that replaces SciPy's fixture ``xp`` by browsergpu and compares as float32.

SciPy's tests ask for float64, which the GPU lacks. So dtypes are not compared. Relative tolerances
are raised to 2e-4. Absolute ones are raised to 2e-5 times the largest number, clipped to 1 to 1000.
The devices are returned as a list, because SciPy adds a list where the standard has a tuple.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import pytest
from scipy import conftest
from scipy._lib import _array_api

import browsergpu as bg
from browsergpu.functions.information import NamespaceInfo

RTOL, ATOL = 2e-4, 2e-5

bg.set_x64("quiet")


def _as_float32(compare: Callable[..., Any], is_close: bool) -> Callable[..., Any]:
    @wraps(compare)
    def call(actual: Any, desired: Any, **options: Any) -> Any:
        if isinstance(actual, bg.Array) or isinstance(desired, bg.Array):
            options["check_dtype"] = False
            if is_close:
                size = float(np.max(np.abs(np.nan_to_num(np.asarray(desired))), initial=0.0))
                options["rtol"] = max(options.get("rtol") or 0, RTOL)
                options["atol"] = max(options.get("atol") or 0, ATOL * min(max(size, 1.0), 1e3))
        return compare(actual, desired, **options)

    return call


for _name in ("xp_assert_equal", "xp_assert_close", "xp_assert_less"):
    _changed = _as_float32(getattr(_array_api, _name), _name == "xp_assert_close")
    setattr(_array_api, _name, _changed)

_known_devices = NamespaceInfo.devices
NamespaceInfo.devices = lambda self: list(_known_devices(self))  # type: ignore[method-assign,return-value,assignment]
_backend = pytest.param(bg, id="browsergpu", marks=pytest.mark.array_api_backends)
object.__setattr__(conftest.xp._fixture_function_marker, "params", (_backend,))
conftest.xp_known_backends.add("browsergpu")
