"""Numbers that Python computes before each replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.engine.core.element_types import FLOAT32, ElementType
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.tensors.device_array import Storage

_EACH = 64  # numbers in each buffer
_BYTES = 8  # of each number, the bytes of the largest element type


class Numbers(Shown):
    """Numbers in unshared memory, as arrays without axes."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._blocks: list[tuple[Storage, bytearray]] = []
        self._used = _EACH
        self._changed: set[int] = set()

    @property
    def ids(self) -> set[int]:
        """The ids of the buffers."""
        return {storage.buffer.id for storage, _ in self._blocks}

    def add(self, value: Any, kind: ElementType = FLOAT32) -> tuple[Node, Callable[[Any], None]]:
        """Add a number. Returns its node and a function that changes it.

        The function raises OverflowError for an integer outside the type's range.
        """
        if self._used == _EACH:
            buffer = self._device.memory.get_buffer("capture", _BYTES * _EACH, "numbers")
            self._blocks.append((Storage(self._device, buffer), bytearray(_BYTES * _EACH)))
            self._used = 0
        block, at = len(self._blocks) - 1, self._used * _BYTES
        storage, values = self._blocks[block]
        self._used += 1

        def change(new: Any) -> None:
            with np.errstate(over="ignore"):
                data = np.asarray(new, kind.device_numpy).tobytes()
            if values[at : at + len(data)] != data:
                values[at : at + len(data)] = data
                self._changed.add(block)

        self._changed.add(block)
        change(value)
        self.send()
        return stored(kind, (), storage, (), 8 * at // kind.bits), change

    def send(self) -> None:
        """Upload the numbers that have changed."""
        while self._changed:
            storage, values = self._blocks[self._changed.pop()]
            data = memoryview(bytes(values))
            self._device.recorder.write(storage.buffer.id, 0, data, data.nbytes)
