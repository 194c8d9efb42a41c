"""The cache of keys and values of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.showing import Shown
from browsergpu.functions import creation
from browsergpu.functions.language.attention import store
from browsergpu.llm.models.config import Config


class Cache(Shown):
    """Keys and values of all layers in memory of fixed size.

    Parameters
    ----------
    config : Config
        The model's.
    capacity : int
        The most tokens.
    device : Device
        The device.
    """

    def __init__(self, config: Config, capacity: int, device: Any) -> None:
        shape = config.kv_heads, capacity, config.head_width

        def room() -> list[Array]:
            return [
                creation.zeros(shape, dtype=np.float32, device=device) for _ in range(config.layers)
            ]

        #: The most tokens.
        self.capacity = capacity
        #: By layer, float32 of shape [kv_heads, capacity, head_width].
        self.keys, self.values = room(), room()
        #: The position of the next token, int32 of shape [1] on the GPU.
        self.position = creation.zeros(1, dtype=np.int32, device=device)
        self._as_is = creation.zeros((1, 0, 2), dtype=np.float32, device=device)

    def _facts(self) -> str:
        return f"of {self.capacity} tokens"

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return sum(one.nbytes for one in (*self.keys, *self.values))

    def move_to(self, position: int) -> None:
        """Continue at a position."""
        self.position[...] = np.array([position], np.int32)

    def add(
        self, layer: int, keys: Array, values: Array, angles: Array | None, *, adjacent: bool
    ) -> None:
        """Store keys and values [T, kv_heads, head_width] from the position on.

        Keys are rotated by ``angles``, unless None.
        """
        turn = self._as_is if angles is None else angles
        store(keys, self.keys[layer], turn, self.position, adjacent)
        store(values, self.values[layer], self._as_is, self.position)
