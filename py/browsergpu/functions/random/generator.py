"""Generators of random arrays: NumPy's newer interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core import checks, shapes
from browsergpu.core.element_types import UINT32
from browsergpu.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.functions import creation
from browsergpu.functions.ordering import sorting
from browsergpu.functions.random.basic import bounds_of, given, like_out, whole_type
from browsergpu.functions.random.bits import BitGenerator, Philox, stream_of
from browsergpu.functions.random.orders import Orders
from browsergpu.functions.random.parameters import AT_LEAST_0
from browsergpu.functions.random.stream import Stream
from browsergpu.tensors import random


class Generator(Orders):
    """Draws random numbers from a stream that its seed determines. Made by :func:`default_rng`."""

    def __init__(self, bit_generator: Any, device: Any = None) -> None:
        super().__init__(stream_of("Generator", bit_generator), device)

    @property
    def bit_generator(self) -> BitGenerator:
        """The stream of random bits, which generators may share."""
        found: BitGenerator = self._bits
        return found

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of streams of their own, on the same device."""
        made = [Generator(bits) for bits in self._bits.spawn(n_children)]
        for one in made:
            one._tracer = self._tracer
        return made

    def random(self, size: Any = None, dtype: Any = None, out: Array | None = None) -> Array:
        """Multiples of 2^-24 in [0, 1), all with the same probability, float32 by default; ``out``
        takes them as its value. Raises InvalidArgument for another size or dtype than out's."""
        return self._filled(random.uniform, "random", size, dtype, out)

    def standard_normal(
        self, size: Any = None, dtype: Any = None, out: Array | None = None
    ) -> Array:
        """Floats of the normal distribution of mean 0 and standard deviation 1, as ``random``
        gives them."""
        return self._filled(random.normal, "standard_normal", size, dtype, out)

    def standard_exponential(
        self, size: Any = None, dtype: Any = None, method: str = "zig", out: Array | None = None
    ) -> Array:
        """Floats of the exponential distribution of mean 1, as ``random`` gives them. ``method`` is
        NumPy's "zig" or "inv", which give the same distribution: here both invert it."""
        op = "standard_exponential"
        if method not in ("zig", "inv"):
            raise InvalidArgument(op, "method", method, "'zig' or 'inv'")
        return self._filled(random.exponential, op, size, dtype, out, 1.0)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = None, out: Array | None = None
    ) -> Array:
        """Floats of the gamma distribution of that shape and scale 1, as ``random`` gives them."""
        op = "standard_gamma"
        if out is not None:
            size, dtype = like_out(op, size, dtype, out)
        kind = self._float(op, np.float32 if dtype is None else dtype)
        found = self._sample(op, size, "gamma", [("shape", shape, AT_LEAST_0)])
        return given(out, found.astype(kind.numpy, copy=False))

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = int,
        endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Whole numbers from ``low`` up to, but not, ``high`` (itself where ``endpoint``), or from
        0 up to ``low`` where only that is given. Raises InvalidArgument where the dtype does not
        hold them. Bounds that are arrays broadcast."""
        op = "integers"
        least, most = bounds_of(op, low, high, checks.flag(op, "endpoint", endpoint))
        return self._integers(op, least, most, size, whole_type(op, dtype))

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8,
        *, method: str = "svd",
    ) -> Array:  # fmt: skip
        """float32 of the normal distribution of a mean [k] and a covariance matrix [k, k], along a
        last axis.

        Parameters
        ----------
        mean : array_like [k]
            The mean.
        cov : array_like [k, k]
            The covariance matrix.
        size : int or tuple of int, optional
            The shape of what is drawn, without the last axis.
        check_valid : {"warn", "raise", "ignore"}, optional
            What happens where the matrix on the host is not symmetric and positive semidefinite. A
            matrix on the GPU is not looked at.
        tol : float, optional
            How far the matrix may be from that.
        method : {"svd", "eigh", "cholesky"}, optional
            How the matrix is factored, on the GPU.

        Returns
        -------
        Array
            float32 of shape [*size, k].
        """
        return self._multivariate_normal(mean, cov, size, check_valid, tol, method)

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """The numbers below a whole number, or an array along an axis, in a random order."""
        return self._permutation(x, axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Gives an array along an axis a random order."""
        self._shuffle(x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Array | None = None) -> Array:
        """The elements of each line along an axis in a random order of its own, or all elements
        where the axis is None. ``out``, which may be x, takes it as its value."""
        op = "permuted"
        if isinstance(x, np.ndarray | list | tuple):
            x = creation.asarray(x, device=self._where((1,)).device)
        if not isinstance(x, Array):
            raise InvalidType(op, "x", x, "an array")
        if out is not None and (not isinstance(out, Array) or out.shape != x.shape):
            raise InvalidArgument(op, "out", out, f"an array of shape {x.shape}")
        if axis is None:
            found = self._permutation(x.reshape(-1), 0).reshape(x.shape)
        else:
            at = shapes.axis(op, "axis", axis, x.ndim)
            words = self._draw(random.words, op, self._new(op, x.shape, UINT32))
            order = sorting.argsort(words, axis=at)
            found = sorting.take_along_axis(x, order, axis=at)
        return given(out, found)

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
            Whole numbers, or parts of the array.

        Raises
        ------
        InvalidArgument
            Where there are too few to draw from, or for other probabilities.
        """
        checks.flag("choice", "shuffle", shuffle)
        return self._choice(a, size, replace, p, axis)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        advice = f"Draw with np.random.default_rng(seed).{name}() and upload with asarray()."
        raise UnknownName(f"Generator.{name}", f"the GPU does not draw this distribution. {advice}")


def default_rng(seed: Any = None, *, device: Any = None) -> Generator:
    """A Generator of the stream of a seed; without one, of a random stream.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator, Generator or RandomState, optional
        What the stream comes from. A Generator is returned as it is.
    device : Device, optional
        The GPU that draws. By default the one in use when the first array is drawn.

    Returns
    -------
    Generator
        The generator.
    """
    op = "default_rng"
    if isinstance(seed, Generator):
        if device is not None:
            raise InvalidArgument(op, "device", device, "None for a generator that exists")
        return seed
    if isinstance(seed, Stream):
        return Generator(seed._bits, device)
    if seed is None:
        return Generator(Philox(), device)
    return Generator(stream_of(op, seed), device)
