"""A pytest plugin: SciPy's fixture ``xp`` is browsergpu, and results are compared as float32.

SciPy's tests ask for float64, which the GPU does not have: dtypes are not compared, and relative
tolerances below 2e-4 become that, absolute ones 2e-5 of the greatest number, or of 1. The devices
are given as a list, to which SciPy
adds, where the standard says a tuple. Nothing else is changed.
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
