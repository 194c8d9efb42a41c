"""Random arrays: the same numbers on every device, by counters (Philox)."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from browsergpu.array import random, reducing
from browsergpu.array.array import Array
from browsergpu.array.context import current, open_tape
from browsergpu.array.functions import manipulation, sorting
from browsergpu.array.graphs.hooks import block_of
from browsergpu.array.shapes_only import nowhere
from browsergpu.array.uploading import element_type
from browsergpu.core import checks, philox, shapes
from browsergpu.core.element_types import FLOAT32, INT32, UINT32, ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType

_KEYS = 2**64


class Generator:
    """Draws random numbers from a stream that its seed determines. Made by :func:`default_rng`."""

    def __init__(self, seed: int, device: Any = None) -> None:
        self._key = seed % _KEYS
        self._counter = 0
        self._tape = open_tape() if device is None else current(device)

    def _new(self, op: str, size: Any, kind: ElementType) -> Array:
        shape = _shape(op, size)
        tape = self._tape
        if tape is None and 0 in shape:
            tape = nowhere()  # no number is drawn: Dask asks for the dtype alone
        elif tape is None:
            tape = self._tape = current()
        return Array(reducing.room(tape.device, op, kind, shape), tape)

    def _draw(self, function: Any, op: str, array: Array, *parameters: Any) -> Array:
        view, before, block = reducing.memory_view(array.node), self._counter, block_of(array)
        first = 0 if block is None else block.draws
        self._counter = function(array.device, op, view, self._key, before, *parameters)
        if block is not None:
            taken = self._counter - before
            block.words(first, lambda: self._next(taken))
        return array

    def _next(self, blocks: int) -> tuple[int, ...]:
        """The key and the counter of another draw that takes so many blocks, as kernels do."""
        found = random.place(self._key, self._counter)
        self._counter = (self._counter + blocks) % philox.COUNTERS
        return found

    def _float(self, op: str, dtype: Any) -> ElementType:
        kind = element_type(op, dtype)
        if kind.kind != "f":
            raise InvalidType(op, "dtype", kind.numpy, "float32 or float16")
        return kind

    def random(self, size: Any = None, dtype: Any = np.float32, out: Array | None = None) -> Array:
        """Multiples of 2^-24 in [0, 1), all with the same probability; ``out`` takes them, as many
        as it has elements, as its value."""
        chosen, like = (size, dtype) if out is None else (out.shape, out.dtype)
        array = self._new("random", chosen, self._float("random", like))
        found = self._draw(random.uniform, "random", array)
        if out is None:
            return found
        out.become(found)
        return out

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Array:
        """float32 from ``low`` up to, but not, ``high``."""
        return self._draw(random.uniform, "uniform", self._new("uniform", size, FLOAT32), low, high)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Array:
        """float32 of a normal distribution of that mean and standard deviation."""
        return self._draw(random.normal, "normal", self._new("normal", size, FLOAT32), loc, scale)

    def standard_normal(self, size: Any = None, dtype: Any = np.float32) -> Array:
        """Floats of the normal distribution of mean 0 and standard deviation 1."""
        array = self._new("standard_normal", size, self._float("standard_normal", dtype))
        return self._draw(random.normal, "standard_normal", array)

    def exponential(self, scale: float = 1.0, size: Any = None) -> Array:
        """float32 of the exponential distribution of that mean."""
        array = self._new("exponential", size, FLOAT32)
        return self._draw(random.exponential, "exponential", array, scale)

    def integers(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = np.int32,
        endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Whole numbers from ``low`` up to, but not, ``high`` (itself where ``endpoint``), or from
        0 up to ``low`` where only that is given. Raises InvalidArgument where the dtype does not
        hold them."""
        op = "integers"
        least, most = (0, index(low)) if high is None else (index(low), index(high))
        most += bool(endpoint)
        kind = element_type(op, dtype)
        if kind.kind not in "iu":
            raise InvalidType(op, "dtype", kind.numpy, "a dtype of whole numbers")
        bounds = np.iinfo(kind.numpy)
        if not bounds.min <= least < most <= int(bounds.max) + 1:
            expected = f"more than {least}, within {kind.name}"
            raise InvalidArgument(op, "high", most, expected)
        wide = UINT32 if kind.kind == "u" else INT32
        array = self._draw(random.integers, op, self._new(op, size, wide), least, most)
        return array.astype(kind.numpy, copy=False)

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """The numbers below a whole number, or an array along an axis, in a random order."""
        op = "permutation"
        if not isinstance(x, Array):
            return self._order(op, checks.integer(op, "x", x))
        at = shapes.axis(op, "axis", axis, x.ndim)
        return manipulation.take(x, self._order(op, x.shape[at]), axis=at)

    def _order(self, op: str, n: int) -> Array:
        words = self._draw(random.words, op, self._new(op, n, UINT32))
        return sorting.argsort(words)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Gives an array along an axis a random order."""
        x.become(self.permutation(x, axis))

    def choice(self, a: Any, size: Any = None, replace: bool = True, axis: int = 0) -> Array:
        """Random ones of the numbers below a whole number, or parts of an array along an axis; each
        once at most unless ``replace``. Raises InvalidArgument where there are too few."""
        op = "choice"
        at = 0 if not isinstance(a, Array) else shapes.axis(op, "axis", axis, a.ndim)
        n = a.shape[at] if isinstance(a, Array) else checks.integer(op, "a", a, 1)
        shape = _shape(op, size)
        count = checks.product(shape)
        if n == 0 or (not replace and count > n):
            raise InvalidArgument(op, "size", size, f"at most {n}")
        drawn = self.integers(0, n, shape) if replace else self._order(op, n)[:count].reshape(shape)
        return manipulation.take(a, drawn, axis=at) if isinstance(a, Array) else drawn


def _shape(op: str, size: Any) -> tuple[int, ...]:
    given = () if size is None else size if hasattr(size, "__len__") else (size,)
    return checks.dimensions(op, "size", given)


def default_rng(seed: int | None = None, *, device: Any = None) -> Generator:
    """A Generator of the stream of a seed, a whole number; without one, of a random stream."""
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(2, np.uint32).view(np.uint64)[0])
    return Generator(checks.integer("default_rng", "seed", seed, maximum=_KEYS - 1), device)
