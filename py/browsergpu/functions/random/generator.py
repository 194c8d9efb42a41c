"""Random generators, NumPy's current interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import UINT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.engine.tensors import random
from browsergpu.functions import creation
from browsergpu.functions.ordering import sorting
from browsergpu.functions.random.basic import bounds_of, given, like_out, whole_type
from browsergpu.functions.random.bits import BitGenerator, Philox, stream_of
from browsergpu.functions.random.parameters import AT_LEAST_0
from browsergpu.functions.random.permutations import Permutations
from browsergpu.functions.random.stream import Stream


class Generator(Permutations):
    """A generator of random arrays from a stream. :func:`default_rng` makes it.

    Parameters
    ----------
    bit_generator : BitGenerator or seed
        The stream, or its seed.
    device : Device, optional
        The GPU that draws. By default, the current device, or if none is open yet, the one at the
        first draw.
    """

    def __init__(self, bit_generator: Any, device: Any = None) -> None:
        super().__init__(stream_of("Generator", bit_generator), device)

    @property
    def bit_generator(self) -> BitGenerator:
        """The stream of random bits. Generators may share it."""
        found: BitGenerator = self._bits
        return found

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators with independent streams, on the same device.

        Parameters
        ----------
        n_children : int
            Number of generators.

        Returns
        -------
        list of Generator
            New generators.
        """
        made = [Generator(bits) for bits in self._bits.spawn(n_children)]
        for one in made:
            one._tracer = self._tracer
        return made

    def random(self, size: Any = None, dtype: Any = None, out: Array | None = None) -> Array:
        """Draw multiples of 2^-24 from [0, 1), all with the same probability.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.
        dtype : dtype, optional
            float32 or float16. float32 by default.
        out : Array, optional
            An array that gets the numbers in place.

        Returns
        -------
        Array
            Floats of shape ``size``.

        Raises
        ------
        InvalidArgument
            If ``size`` or ``dtype`` differs from that of ``out``.
        InvalidType
            If ``dtype`` is not a float.
        """
        return self._filled(random.uniform, "random", size, dtype, out)

    def standard_normal(
        self, size: Any = None, dtype: Any = None, out: Array | None = None
    ) -> Array:
        """Draw from the normal distribution of mean 0 and standard deviation 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.
        dtype : dtype, optional
            float32 or float16. float32 by default.
        out : Array, optional
            An array that gets the numbers in place.

        Returns
        -------
        Array
            Floats of shape ``size``.

        Raises
        ------
        InvalidArgument
            If ``size`` or ``dtype`` differs from that of ``out``.
        InvalidType
            If ``dtype`` is not a float.
        """
        return self._filled(random.normal, "standard_normal", size, dtype, out)

    def standard_exponential(
        self, size: Any = None, dtype: Any = None, method: str = "zig", out: Array | None = None
    ) -> Array:
        """Draw from the exponential distribution of mean 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.
        dtype : dtype, optional
            float32 or float16. float32 by default.
        method : {"zig", "inv"}, optional
            NumPy's methods. Both invert the distribution function here.
        out : Array, optional
            An array that gets the numbers in place.

        Returns
        -------
        Array
            Floats of shape ``size``.

        Raises
        ------
        InvalidArgument
            If ``size`` or ``dtype`` differs from that of ``out``, or ``method`` has another value.
        InvalidType
            If ``dtype`` is not a float.
        """
        op = "standard_exponential"
        if method not in ("zig", "inv"):
            raise InvalidArgument(op, "method", method, "'zig' or 'inv'")
        return self._filled(random.exponential, op, size, dtype, out, 1.0)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = None, out: Array | None = None
    ) -> Array:
        """Draw from a gamma distribution of scale 1.

        Parameters
        ----------
        shape : array_like
            The shape parameter, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, that of the parameter.
        dtype : dtype, optional
            float32 or float16. float32 by default.
        out : Array, optional
            An array that gets the numbers in place.

        Returns
        -------
        Array
            Floats of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or ``size`` or ``dtype`` does not fit.
        InvalidType
            If ``dtype`` is not a float.
        """
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
        """Draw integers from an interval.

        Parameters
        ----------
        low : int or array_like
            The lower bound. With one bound, the interval is from 0 to ``low``.
        high : int or array_like, optional
            The upper bound.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the bounds.
        dtype : dtype, optional
            An integer dtype. The default integer type by default.
        endpoint : bool, optional
            Whether the upper bound is included.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If the dtype does not hold the integers, or there are none between the bounds.
        InvalidType
            If ``dtype`` or a bound is not an integer.
        """
        op = "integers"
        least, most = bounds_of(op, low, high, checks.flag(op, "endpoint", endpoint))
        return self._integers(op, least, most, size, whole_type(op, dtype))

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8,
        *, method: str = "svd",
    ) -> Array:  # fmt: skip
        """Draw vectors from a multivariate normal distribution.

        Parameters
        ----------
        mean : array_like
            The mean, of shape [k].
        cov : array_like
            The covariance matrix, of shape [k, k].
        size : int or tuple of int, optional
            The shape of the result without its last axis.
        check_valid : {"warn", "raise", "ignore"}, optional
            What happens if a matrix on the host is not symmetric and positive semidefinite. A
            matrix on the GPU is not checked.
        tol : float, optional
            The tolerance of this check.
        method : {"svd", "eigh", "cholesky"}, optional
            How the GPU factors the matrix.

        Returns
        -------
        Array
            float32 of shape [*size, k].

        Raises
        ------
        InvalidArgument
            If the shapes do not fit, or an option is invalid.
        """
        return self._multivariate_normal(mean, cov, size, check_valid, tol, method)

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """Return a random permutation.

        Parameters
        ----------
        x : int or array_like
            An array, or n for the integers from 0 to n - 1.
        axis : int, optional
            The axis that is permuted.

        Returns
        -------
        Array
            A permuted copy.

        Raises
        ------
        InvalidArgument
            If the axis is out of range, or ``x`` is negative.
        """
        return self._permutation(x, axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Shuffle an array along an axis, in place.

        Parameters
        ----------
        x : Array
            An array on the GPU.
        axis : int, optional
            The axis.

        Raises
        ------
        InvalidType
            If ``x`` is not an array on the GPU.
        InvalidArgument
            If the axis is out of range.
        """
        self._shuffle(x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Array | None = None) -> Array:
        """Shuffle the elements of each row along an axis independently.

        Parameters
        ----------
        x : array_like
            The array.
        axis : int, optional
            The axis. By default, all elements are shuffled together.
        out : Array, optional
            An array that gets the result in place. It may be ``x``.

        Returns
        -------
        Array
            The shape and dtype of ``x``.

        Raises
        ------
        InvalidType
            If ``x`` is not an array.
        InvalidArgument
            If ``out`` does not fit, or the axis is out of range.
        """
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
        """Draw from integers, or from an array along an axis.

        Parameters
        ----------
        a : int or array_like
            An array, or n for the integers from 0 to n - 1.
        size : int or tuple of int, optional
            The shape of the sample. A single element by default.
        replace : bool, optional
            Whether an element can be drawn more than once.
        p : sequence or NumPy array, optional
            The probability of each element, of shape [n], on the host. Equal by default.
        axis : int, optional
            The axis of the array.
        shuffle : bool, optional
            Has no effect. The order is random in any case.

        Returns
        -------
        Array
            Integers, or elements of the array, in which the axes of ``size`` replace ``axis``.

        Raises
        ------
        InvalidArgument
            If there are too few elements, or the probabilities are invalid.
        """
        checks.flag("choice", "shuffle", shuffle)
        return self._choice(a, size, replace, p, axis)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        advice = f"Draw with np.random.default_rng(seed).{name}() and upload with asarray()."
        raise UnknownName(f"Generator.{name}", f"the GPU does not draw this distribution. {advice}")


def default_rng(seed: Any = None, *, device: Any = None) -> Generator:
    """Return a generator of random arrays.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator, Generator or RandomState, optional
        The seed or the stream, random by default. A Generator is returned unchanged.
    device : Device, optional
        The GPU that draws. By default, the current device, or if none is open yet, the one at the
        first draw.

    Returns
    -------
    Generator
        The generator.

    Raises
    ------
    InvalidArgument
        If ``device`` is given for a Generator, or the seed is out of range.
    InvalidType
        If the seed has another type.
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
