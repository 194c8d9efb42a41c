"""The cache of keys and values of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.networks.rotary import row_words
from browsergpu.functions import creation
from browsergpu.functions.language.attention import cached_attention, extend_and_attend, store
from browsergpu.llm.models.config import Config

#: Types of the cached numbers.
DTYPES = ("float32", "int8")


class Cache(Shown):
    """Keys and values of all layers in memory of fixed size.

    Parameters
    ----------
    config : Config
        The model's.
    capacity : int
        The most tokens of a sequence.
    device : Device
        The device.
    dtype : str
        ``"float32"``, or ``"int8"``. Each 32 numbers of a head in 8 bits have a float32 factor.
    sequences : int
        Number of sequences.
    """

    def __init__(
        self, config: Config, capacity: int, device: Any, dtype: str = "float32",
        sequences: int = 1,
    ) -> None:  # fmt: skip
        is_int8 = dtype == "int8"
        width = row_words(config.head_width) if is_int8 else config.head_width
        shape = sequences, config.kv_heads, capacity, width
        kind = np.uint32 if is_int8 else np.float32

        def room() -> list[Array]:
            return [creation.zeros(shape, dtype=kind, device=device) for _ in range(config.layers)]

        #: The most tokens of a sequence, and the type of the numbers.
        self.capacity, self.dtype = capacity, dtype
        #: By layer, of shape [sequences, kv_heads, capacity, head_width], as ``store`` takes them.
        self.keys, self.values = room(), room()
        #: The positions of the next tokens, and the slots of their sequences, int32 on the GPU.
        self.position = creation.zeros(sequences, dtype=np.int32, device=device)
        self.slots = creation.arange(sequences, dtype=np.int32, device=device)
        self._everything = self.position, self.slots
        self._as_is = creation.zeros((1, 0, 2), dtype=np.float32, device=device)

    def _facts(self) -> str:
        return f"of {self.capacity} tokens in {self.dtype}"

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return sum(one.nbytes for one in (*self.keys, *self.values))

    def move_to(self, *positions: int) -> None:
        """Continue all sequences at positions."""
        self.position, self.slots = self._everything
        self.position[...] = np.array(positions, np.int32)

    def select(self, slots: Sequence[int], positions: Sequence[int]) -> None:
        """Continue only the sequences of some slots, at positions, until :meth:`move_to`."""
        self.position, self.slots = (
            creation.asarray(np.array(own, np.int32), device=self._as_is.device)
            for own in (positions, slots)
        )

    def add(
        self, layer: int, keys: Array, values: Array, angles: Array | None, *, adjacent: bool
    ) -> None:
        """Store keys and values [T, kv_heads, head_width] from the positions on.

        T tokens are as many of each sequence. Keys are rotated by ``angles``, unless None.
        """
        turn = self._as_is if angles is None else angles
        store(keys, self.keys[layer], turn, self.position, self.slots, adjacent)
        self.add_values(layer, values)

    def add_values(self, layer: int, values: Array) -> None:
        """Store values [T, kv_heads, head_width] from the positions on."""
        store(values, self.values[layer], self._as_is, self.position, self.slots)

    def extend(
        self, layer: int, x: Array, heads: int, angles: Array | None, norms: Array | None,
        eps: float, scale: float, softcap: float, window: int, *, adjacent: bool,
    ) -> Array:  # fmt: skip
        """Store keys and perhaps values of x [T, joined, head_width], and attend to all entries.

        ``heads`` are queries, followed by keys, and by values or not. ``norms`` and ``eps`` are
        those of ``functions.language.attention.split_heads``. Queries and keys are rotated by
        ``angles``, unless None.

        Returns
        -------
        Array
            The causal attention of the queries, [T, heads, head_width].
        """
        turn = self._as_is if angles is None else angles
        keys, values = self.keys[layer], self.values[layer]
        return extend_and_attend(
            x, heads, keys, values, turn, self.position, self.slots, scale, softcap, window,
            adjacent, norms, eps,
        )  # fmt: skip

    def attend(self, layer: int, query: Array, scale: float, softcap: float, window: int) -> Array:
        """Return the causal attention of queries [T, heads, head_width] to the layer's entries."""
        keys, values = self.keys[layer], self.values[layer]
        return cached_attention(
            query, keys, values, self.position, self.slots, scale, softcap, window
        )


def check_dtype(op: str, value: Any) -> str:
    """Return the name of a cache's type. Raises InvalidArgument for another one."""
    if isinstance(value, str):
        if value in DTYPES:
            return value
    elif isinstance(value, type | np.dtype) and value in (np.float32, np.int8):
        return np.dtype(value).name
    raise InvalidArgument(op, "cache_dtype", value, " or ".join(map(repr, DTYPES)))
