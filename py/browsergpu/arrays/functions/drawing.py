"""Random arrays: the same numbers on every device, by counters (Philox)."""

from __future__ import annotations

from operator import index
from typing import Any, Self

import numpy as np

from browsergpu.arrays import random, reducing
from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current, open_tape
from browsergpu.arrays.functions import creation, manipulation, redrawing, sorting
from browsergpu.arrays.graphs.hooks import block_of
from browsergpu.arrays.replacing import become
from browsergpu.arrays.shapes_only import nowhere
from browsergpu.arrays.uploading import element_type
from browsergpu.core import checks, philox, shapes
from browsergpu.core.element_types import FLOAT32, INT32, UINT32, ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.core.showing import Shown
from browsergpu.core.turns import exclusive

_KEYS = 2**64


class Generator(Shown):
    """Draws random numbers from a stream that its seed determines. Made by :func:`default_rng`."""

    def __init__(self, seed: int, device: Any = None) -> None:
        self._key = seed % _KEYS
        self._counter = 0
        self.seeds = 0
        self._tape = open_tape() if device is None else current(device)

    def _facts(self) -> str:
        return f"at {self._counter} of stream {self._key}"

    @exclusive
    def _new(self, op: str, size: Any, kind: ElementType) -> Array:
        shape = _shape(op, size)
        tape = self._tape
        if tape is None and 0 in shape:
            tape = nowhere()  # no number is drawn: Dask asks for the dtype alone
        elif tape is None:
            tape = self._tape = current()
        return Array(reducing.room(tape.device, op, kind, shape), tape)

    def __getstate__(self) -> dict[str, Any]:
        """Where it is in its stream. The device is that of the process that has it next."""
        return {"place": self.place, "seeds": self.seeds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.place, self.seeds = state["place"], state["seeds"]
        self._tape = None

    def __deepcopy__(self, memo: Any) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        made._tape = self._tape
        return made

    @property
    def place(self) -> redrawing.Place:
        """Where it is in its stream: its key and its counter."""
        return self._key, self._counter

    @place.setter
    def place(self, value: redrawing.Place) -> None:
        if not redrawing.is_again(self):  # that draws as before, also after a seed
            self._key, self._counter = value

    @exclusive
    def _draw(self, function: Any, op: str, array: Array, *parameters: Any) -> Array:
        view, block = reducing.memory_view(array.node), block_of(array)
        first = 0 if block is None else block.draws
        places = redrawing.draw(
            self,
            philox.blocks_for(function.__name__, array.size),
            is_captured=block is not None,
            work=lambda place: function(array.device, op, view, *place, *parameters),
        )
        if block is not None:
            block.words(first, lambda: random.place(*places()))
        return array

    def _float(self, op: str, dtype: Any) -> ElementType:
        kind = element_type(op, dtype)
        if kind.kind != "f":
            raise InvalidType(op, "dtype", kind.numpy, "float32 or float16")
        return kind

    def random(self, size: Any = None, dtype: Any = None, out: Array | None = None) -> Array:
        """Multiples of 2^-24 in [0, 1), all with the same probability, float32 by default; ``out``
        takes them as its value. Raises InvalidArgument for another size or dtype than out's."""
        op = "random"
        if out is not None:
            if size is not None and _shape(op, size) != out.shape:
                raise InvalidArgument(op, "size", size, f"None or {out.shape}, out's shape")
            if dtype is not None and element_type(op, dtype) is not out.node.kind:
                raise InvalidArgument(op, "dtype", dtype, f"None or {out.dtype}, out's dtype")
            size, dtype = out.shape, out.dtype
        kind = FLOAT32 if dtype is None else self._float(op, dtype)
        found = self._draw(random.uniform, op, self._new(op, size, kind))
        if out is None:
            return found
        become(out, found)
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

    def standard_exponential(self, size: Any = None, dtype: Any = np.float32) -> Array:
        """Floats of the exponential distribution of mean 1."""
        op = "standard_exponential"
        return self._draw(random.exponential, op, self._new(op, size, self._float(op, dtype)), 1.0)

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
            shapes.axis(op, "axis", axis, 1)
            return self._order(op, checks.integer(op, "x", x))
        at = shapes.axis(op, "axis", axis, x.ndim)
        return manipulation.take(x, self._order(op, x.shape[at]), axis=at)

    def _order(self, op: str, n: int) -> Array:
        words = self._draw(random.words, op, self._new(op, n, UINT32))
        return sorting.argsort(words)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Gives an array along an axis a random order."""
        become(x, self.permutation(x, axis))

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Array:  # fmt: skip
        """Draw from the numbers below a whole number, or from an array along an axis.

        Parameters
        ----------
        a : int or Array
            The numbers 0 to a - 1, or the array.
        size : int or tuple of int, optional
            The shape of what is drawn; one by default.
        replace : bool, optional
            False draws each at most once.
        p : sequence or NumPy array of shape [n], optional
            The probability of each, on the host. Equal ones by default.
        axis : int, optional
            The axis of the array.
        shuffle : bool, optional
            Without replacement the order is random anyway: False allows any.

        Returns
        -------
        Array
            int32, or parts of the array.

        Raises
        ------
        InvalidArgument
            Where there are too few to draw from, or for other probabilities.
        """
        op = "choice"
        checks.flag(op, "replace", replace)
        checks.flag(op, "shuffle", shuffle)
        at = shapes.axis(op, "axis", axis, a.ndim if isinstance(a, Array) else 1)
        n = a.shape[at] if isinstance(a, Array) else checks.integer(op, "a", a, 1)
        shape = _shape(op, size)
        count = checks.product(shape)
        shares = None if p is None else _probabilities(op, p, n)
        most = n if shares is None else np.count_nonzero(shares)
        if n == 0 or (not replace and count > most):
            raise InvalidArgument(op, "size", size, f"at most {most}")
        if replace:
            drawn = self.integers(0, n, shape) if shares is None else self._by(shares, shape)
        else:
            order = self._order(op, n) if shares is None else self._order_by(shares)
            drawn = order[:count].reshape(shape)
        return manipulation.take(a, drawn, axis=at) if isinstance(a, Array) else drawn

    def _by(self, shares: np.ndarray, shape: tuple[int, ...]) -> Array:
        """Indices by their probabilities, drawn independently."""
        ends = np.cumsum(shares).astype(np.float32)
        ends[np.flatnonzero(shares)[-1] :] = 2  # rounding must lead to no index behind it
        drawn = self.random(shape)
        limits = creation.asarray(ends, device=drawn.device)
        return sorting.searchsorted(limits, drawn, side="right")

    def _order_by(self, shares: np.ndarray) -> Array:
        """All indices, each next one by the probabilities of those that are left: in the order of
        exponential times with the probabilities as rates."""
        with np.errstate(divide="ignore"):
            means = (1 / shares).astype(np.float32)
        times = self.exponential(size=len(shares))
        return sorting.argsort(times * creation.asarray(means, device=times.device))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        advice = f"Draw with np.random.default_rng(seed).{name}() and upload with asarray()."
        raise UnknownName(f"Generator.{name}", f"the GPU does not draw this distribution. {advice}")


def _probabilities(op: str, p: Any, n: int) -> np.ndarray:
    if isinstance(p, list | tuple):
        p = np.array([checks.real(op, "p", share) for share in p])
    if not isinstance(p, np.ndarray) or p.dtype.kind not in "biuf":
        raise InvalidType(op, "p", p, "a sequence or a NumPy array of numbers")
    shares = p.astype(np.float64)
    if shares.shape != (n,):
        raise InvalidArgument(op, "p", p, f"have {n} numbers")
    if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InvalidArgument(op, "p", p, "numbers of at least 0 that add up to 1")
    return shares


def _shape(op: str, size: Any) -> tuple[int, ...]:
    given = () if size is None else size if checks.is_several(size) else (size,)
    return checks.dimensions(op, "size", given)


def default_rng(seed: int | None = None, *, device: Any = None) -> Generator:
    """A Generator of the stream of a seed, a whole number; without one, of a random stream."""
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(2, np.uint32).view(np.uint64)[0])
    return Generator(checks.integer("default_rng", "seed", seed, maximum=_KEYS - 1), device)
