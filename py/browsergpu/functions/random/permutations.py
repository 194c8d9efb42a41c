"""Random permutations and choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.in_place import become
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import UINT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import random
from browsergpu.functions import creation, manipulation
from browsergpu.functions.ordering import sorting
from browsergpu.functions.random.parameters import shape_of
from browsergpu.functions.random.stream import whole_kind
from browsergpu.functions.random.vectors import Vectors


class Permutations(Vectors):
    """Functions that draw from given elements."""

    def bytes(self, length: int) -> bytes:
        """Return random bytes. Waits.

        Parameters
        ----------
        length : int
            Number of bytes.

        Returns
        -------
        bytes
            The bytes.
        """
        op = "bytes"
        count = checks.integer(op, "length", length)
        if count == 0:
            return b""
        found = self._draw(random.words, op, self._new(op, -(-count // 4), UINT32))
        return bytes(found.numpy().tobytes()[:count])

    def _permutation(self, x: Any, axis: int) -> Array:
        op = "permutation"
        x = self._elements(x)
        if not isinstance(x, Array):
            shapes.axis(op, "axis", axis, 1)
            return self._random_order(op, checks.integer(op, "x", x))
        at = shapes.axis(op, "axis", axis, x.ndim)
        return manipulation.take(x, self._random_order(op, x.shape[at]), axis=at)

    def _elements(self, drawn_from: Any) -> Any:
        """Return a sequence as an array, and a number unchanged."""
        if isinstance(drawn_from, Array) or np.ndim(drawn_from) == 0:
            return drawn_from
        return creation.asarray(drawn_from, device=self._where((1,)).device)

    @exclusive
    def _random_order(self, op: str, n: int) -> Array:
        words = self._draw(random.words, op, self._new(op, n, UINT32))
        return sorting.argsort(words)

    def _shuffle(self, x: Array, axis: int) -> None:
        if not isinstance(x, Array):
            advice = "NumPy's generators shuffle arrays on the host."
            raise InvalidType("shuffle", "x", x, "an array on the GPU", advice)
        become(x, self._permutation(x, axis))

    def _choice(self, a: Any, size: Any, replace: bool, p: Any, axis: int) -> Array:
        op = "choice"
        checks.flag(op, "replace", replace)
        a = self._elements(a)
        at = shapes.axis(op, "axis", axis, a.ndim if isinstance(a, Array) else 1)
        n = a.shape[at] if isinstance(a, Array) else checks.integer(op, "a", a, 1)
        shape = shape_of(op, size)
        count = checks.product(shape)
        shares = None if p is None else _probabilities(op, p, n)
        most = n if shares is None else np.count_nonzero(shares)
        if n == 0 or (not replace and count > most):
            raise InvalidArgument(op, "size", size, f"at most {most}")
        if replace:
            drawn = (
                self._integers(op, 0, n - 1, shape, whole_kind())
                if shares is None
                else self._by(shares, shape)
            )
        else:
            order = self._random_order(op, n) if shares is None else self._order_by(shares)
            drawn = order[:count].reshape(shape)
        return manipulation.take(a, drawn, axis=at) if isinstance(a, Array) else drawn

    def _by(self, shares: np.ndarray, shape: tuple[int, ...]) -> Array:
        """Draw indices independently, by their probabilities."""
        ends = np.cumsum(shares).astype(np.float32)
        ends[np.flatnonzero(shares)[-1] :] = 2  # rounding must not select a later index
        drawn = self.uniform(size=shape)
        limits = creation.asarray(ends, device=drawn.device)
        return sorting.searchsorted(limits, drawn, side="right")

    def _order_by(self, shares: np.ndarray) -> Array:
        """Draw a permutation. The next index is drawn by its share of the remaining probabilities.

        It is the order of exponential times with the probabilities as rates.
        """
        with np.errstate(divide="ignore"):
            means = (1 / shares).astype(np.float32)
        times = self.exponential(size=len(shares))
        return sorting.argsort(times * creation.asarray(means, device=times.device))


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
