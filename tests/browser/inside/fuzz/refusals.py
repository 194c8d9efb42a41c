"""Invalid calls of every API, and checks that they were refused without effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

NOT_HANDLES: list[Any] = [0, -1, 2**60, None, "1", 1.5, True, b"1", [], np.float32(1)]
NOT_COUNTS: list[Any] = [-1, 2.5, "3", None, True, 2**32, 2**40, -(2**70), [], 1j]
NOT_NUMBERS: list[Any] = [np.nan, np.inf, -np.inf, 1e39, "1", None, 1j, b"", [], True]
NOT_SHAPES: list[Any] = [None, 5, "34", b"34", [-1, 2], [2.5, 2], [None], {3, 4}, [2**40, 1]]
NOT_CHOICES: list[Any] = [None, "bogus", "", 3, b"sum", [], 1.0]
NOT_DATA: list[Any] = [None, 5, "text", object(), np.zeros(1, np.float64), np.array(["a"]),
                       np.array([object()])]  # fmt: skip


def refused(backend: Any, op: str, call: Callable[[], Any]) -> None:
    """Check that a call raises a BackendError with its op's name, and changes no memory."""
    from browsergpu.errors import BackendError

    memory = backend.device.memory
    before = (memory.buffers, memory.in_use)
    with pytest.raises(BackendError) as caught:
        call()
    assert caught.value.op == op, f"{caught.value} names {caught.value.op!r}, not {op!r}"
    assert str(caught.value).startswith(f"{op}: ")
    assert (memory.buffers, memory.in_use) == before, f"{op} was refused, and changed memory"
