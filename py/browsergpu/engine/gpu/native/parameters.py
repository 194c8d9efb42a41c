"""Kernel parameters for devices without immediates: slots of one uniform buffer."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.engine import Engine

_SLOTS = 256  # more than the dispatches of a batch
_SLOT_BYTES = 1024  # enough for a fused kernel of maximum length with a number for each operation


class Parameters(Shown):
    """The uniform buffer of one device. Its slots belong to the open batch."""

    def __init__(self, engine: Engine, device: Any, layout: Any) -> None:
        size = _SLOTS * _SLOT_BYTES
        self._engine, self._device = engine, device
        usage = engine.api.BufferUsage
        self._staging = bytearray(size)
        self._used = 0
        self.buffer = device.create_buffer(
            size=size, usage=usage.UNIFORM | usage.COPY_DST, label="parameters"
        )
        resource = {"buffer": self.buffer, "offset": 0, "size": _SLOT_BYTES}
        self.group = device.create_bind_group(
            layout=layout, entries=[{"binding": 0, "resource": resource}]
        )

    def place(self, data: bytes) -> int:
        """Copy parameters into the next slot and return its offset."""
        offset = self._used * _SLOT_BYTES
        self._staging[offset : offset + len(data)] = data
        self._used += 1
        return offset

    def send(self) -> None:
        """Upload the used slots. Must be called before the batch is submitted."""
        if self._used:
            used = self._used * _SLOT_BYTES
            self._engine.upload(self._device, self.buffer, 0, self._staging, used)
            self._used = 0
