"""Numbers that Python computes before each replay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.showing import Shown
from browsergpu.device.device import Device
from browsergpu.tensors.device_array import Storage

_EACH = 64  # floats in each buffer


class Numbers(Shown):
    """Float32 numbers in unshared memory, as arrays without axes."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._blocks: list[tuple[Storage, np.ndarray]] = []
        self._used = _EACH
        self._changed: set[int] = set()

    @property
    def ids(self) -> set[int]:
        """The ids of the buffers."""
        return {storage.buffer.id for storage, _ in self._blocks}

    def add(self, value: float) -> tuple[Node, Callable[[float], None]]:
        """Add a number. Returns its node and a function that changes it."""
        if self._used == _EACH:
            buffer = self._device.memory.get_buffer("capture", 4 * _EACH, "numbers")
            self._blocks.append((Storage(self._device, buffer), np.zeros(_EACH, np.float32)))
            self._used = 0
        block, at = len(self._blocks) - 1, self._used
        storage, values = self._blocks[block]
        self._used += 1

        def change(new: float) -> None:
            with np.errstate(over="ignore"):
                single = np.float32(new)
            if values[at] != single:
                values[at] = single
                self._changed.add(block)

        self._changed.add(block)
        change(value)
        self.send()
        return stored(FLOAT32, (), storage, (), at), change

    def send(self) -> None:
        """Upload the numbers that have changed."""
        while self._changed:
            storage, values = self._blocks[self._changed.pop()]
            data = values.data.cast("B")
            self._device.recorder.write(storage.buffer.id, 0, data, data.nbytes)
