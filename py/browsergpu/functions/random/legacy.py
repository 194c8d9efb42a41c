"""NumPy's legacy interface of random numbers, and the state that ``browsergpu.random`` shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current, open_tracer
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import random
from browsergpu.functions.meta import nowhere
from browsergpu.functions.random.basic import bounds_of, whole_type
from browsergpu.functions.random.bits import BitGenerator, Philox, place_of, stream_of
from browsergpu.functions.random.parameters import AT_LEAST_0
from browsergpu.functions.random.permutations import Permutations
from browsergpu.functions.random.stream import whole_kind


class RandomState(Permutations):
    """A stream of random numbers with NumPy's legacy methods.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed of the stream, random by default. The numbers differ from NumPy's for the same
        seed.
    device : Device, optional
        The GPU that draws. By default, the current device, or if none is open yet, the one at the
        first draw.
    """

    def __init__(self, seed: Any = None, *, device: Any = None) -> None:
        super().__init__(Philox() if seed is None else stream_of("RandomState", seed), device)

    @exclusive
    def seed(self, seed: Any = None) -> None:
        """Restart the stream with a seed, random by default."""
        bits = Philox() if seed is None else stream_of("seed", seed)
        self._begin(bits)

    def _begin(self, bits: Any) -> None:
        self._restart(bits.place, is_seeded=bits.is_seeded)
        self._bits.seed_seq = bits.seed_seq

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """Return the state of the stream, for :meth:`set_state`.

        Parameters
        ----------
        legacy : bool, optional
            Has no effect. NumPy's tuple exists only for MT19937.

        Returns
        -------
        dict
            The key and the counter.
        """
        if not isinstance(legacy, bool):
            raise InvalidType("get_state", "legacy", legacy, "True or False")
        found: dict[str, Any] = self._bits.state
        return found

    @exclusive
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a state of :meth:`get_state`."""
        self._restart(place_of("set_state", state))

    def rand(self, *args: int) -> Array:
        """Draw float32 from [0, 1). The arguments are the shape."""
        return self._draw(random.uniform, "rand", self._new("rand", args, FLOAT32))

    def randn(self, *args: int) -> Array:
        """Draw float32 from the standard normal distribution. The arguments are the shape."""
        return self._draw(random.normal, "randn", self._new("randn", args, FLOAT32))

    def random_sample(self, size: Any = None) -> Array:
        """Draw multiples of 2^-24 from [0, 1), all with the same probability.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            float32 of shape ``size``.
        """
        op = "random_sample"
        return self._draw(random.uniform, op, self._new(op, size, FLOAT32))

    def random(self, size: Any = None) -> Array:
        """Draw multiples of 2^-24 from [0, 1), all with the same probability.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            float32 of shape ``size``.
        """
        return self._draw(random.uniform, "random", self._new("random", size, FLOAT32))

    def standard_normal(self, size: Any = None) -> Array:
        """Draw from the normal distribution of mean 0 and standard deviation 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            float32 of shape ``size``.
        """
        op = "standard_normal"
        return self._draw(random.normal, op, self._new(op, size, FLOAT32))

    def standard_exponential(self, size: Any = None) -> Array:
        """Draw from the exponential distribution of mean 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            float32 of shape ``size``.
        """
        op = "standard_exponential"
        return self._draw(random.exponential, op, self._new(op, size, FLOAT32), 1.0)

    def standard_gamma(self, shape: Any, size: Any = None) -> Array:
        """Draw from a gamma distribution of scale 1.

        Parameters
        ----------
        shape : array_like
            The shape parameter, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("standard_gamma", size, "gamma", [("shape", shape, AT_LEAST_0)])

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Array:
        """Draw integers from a half-open interval.

        Parameters
        ----------
        low : int or array_like
            The lower bound. With one bound, the interval is from 0 to ``low``.
        high : int or array_like, optional
            The upper bound, excluded.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.
        dtype : dtype, optional
            An integer dtype. The default integer type by default.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "randint"
        least, most = bounds_of(op, low, high, False)
        return self._integers(op, least, most, size, whole_type(op, dtype))

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Array:
        """Draw integers from a closed interval.

        Parameters
        ----------
        low : int or array_like
            The lower bound. With one bound, the interval is from 1 to ``low``.
        high : int or array_like, optional
            The upper bound, included.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "random_integers"
        least, most = (1, low) if high is None else (low, high)
        return self._integers(op, *bounds_of(op, least, most, True), size, whole_kind())

    def tomaxint(self, size: Any = None) -> Array:
        """Draw integers from 0 to 2**31 - 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            Integers of shape ``size``.
        """
        return self._integers("tomaxint", 0, 2**31 - 1, size, whole_kind())

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8
    ) -> Array:
        """Draw vectors as ``Generator.multivariate_normal``, with the method "svd"."""
        return self._multivariate_normal(mean, cov, size, check_valid, tol, "svd")

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Array:
        """Draw from integers or a vector, as ``Generator.choice``."""
        if isinstance(a, Array) and a.ndim != 1:
            raise InvalidType("choice", "a", a, "an integer or a vector")
        return self._choice(a, size, replace, p, 0)

    def permutation(self, x: Any) -> Array:
        """Return a random permutation of integers, or of an array along its first axis."""
        return self._permutation(x, 0)

    def shuffle(self, x: Array) -> None:
        """Shuffle an array along its first axis, in place."""
        self._shuffle(x, 0)


class _Shared(RandomState):
    """The state of ``browsergpu.random``. It draws on the current device."""

    def _where(self, shape: Shape) -> Tracer:
        tracer = open_tracer()
        if tracer is None:
            return nowhere() if 0 in shape else current()
        return tracer

    def __reduce__(self) -> Any:
        return _shared, ()


def _shared() -> _Shared:
    return SHARED


#: The state of the functions of ``browsergpu.random``. Its stream is random until ``seed()``.
SHARED = _Shared()


def get_bit_generator() -> BitGenerator:
    """Return the stream of the functions of ``browsergpu.random``."""
    found: BitGenerator = SHARED._bits
    return found


@exclusive
def set_bit_generator(bitgen: BitGenerator) -> None:
    """Set the stream of the functions of ``browsergpu.random``.

    Parameters
    ----------
    bitgen : BitGenerator
        A ``browsergpu.random.Philox``.

    Raises
    ------
    InvalidType
        If ``bitgen`` is not a BitGenerator.
    """
    if not isinstance(bitgen, BitGenerator):
        expected = "a browsergpu.random.Philox"
        raise InvalidType("set_bit_generator", "bitgen", bitgen, expected)
    SHARED._bits = bitgen
