"""NumPy's older interface of random numbers: RandomState, and the one that the functions of
``browsergpu.random`` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current, open_tracer
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.errors import InvalidType
from browsergpu.core.shapes import Shape
from browsergpu.core.turns import exclusive
from browsergpu.functions.meta import nowhere
from browsergpu.functions.random.basic import bounds_of, whole_type
from browsergpu.functions.random.bits import BitGenerator, Philox, place_of, stream_of
from browsergpu.functions.random.orders import Orders
from browsergpu.functions.random.parameters import AT_LEAST_0
from browsergpu.functions.random.stream import whole_kind
from browsergpu.tensors import random


class RandomState(Orders):
    """Draws random numbers by NumPy's older names.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        Where the stream comes from. None: a random one. The numbers are not those of NumPy's seed.
    device : Device, optional
        The GPU that draws. By default the one in use when the first array is drawn.
    """

    def __init__(self, seed: Any = None, *, device: Any = None) -> None:
        super().__init__(Philox() if seed is None else stream_of("RandomState", seed), device)

    @exclusive
    def seed(self, seed: Any = None) -> None:
        """Begin the stream of a seed."""
        bits = Philox() if seed is None else stream_of("seed", seed)
        self._begin(bits)

    def _begin(self, bits: Any) -> None:
        self.place = bits.place
        self._bits.seed_seq = bits.seed_seq
        self.seeds += 1

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """Where the stream is: a dict for :meth:`set_state`. NumPy's tuple, which ``legacy`` asks
        for, is one of MT19937 alone."""
        if not isinstance(legacy, bool):
            raise InvalidType("get_state", "legacy", legacy, "True or False")
        found: dict[str, Any] = self._bits.state
        return found

    @exclusive
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from where :meth:`get_state` was called."""
        self.place = place_of("set_state", state)
        self.seeds += 1

    def rand(self, *args: int) -> Array:
        """float32 in [0, 1), of the shape that the arguments say."""
        return self._draw(random.uniform, "rand", self._new("rand", args, FLOAT32))

    def randn(self, *args: int) -> Array:
        """float32 of the standard normal distribution, of the shape that the arguments say."""
        return self._draw(random.normal, "randn", self._new("randn", args, FLOAT32))

    def random_sample(self, size: Any = None) -> Array:
        """float32 in [0, 1), multiples of 2^-24."""
        op = "random_sample"
        return self._draw(random.uniform, op, self._new(op, size, FLOAT32))

    def random(self, size: Any = None) -> Array:
        """float32 in [0, 1), multiples of 2^-24."""
        return self._draw(random.uniform, "random", self._new("random", size, FLOAT32))

    def standard_normal(self, size: Any = None) -> Array:
        """float32 of the normal distribution of mean 0 and standard deviation 1."""
        op = "standard_normal"
        return self._draw(random.normal, op, self._new(op, size, FLOAT32))

    def standard_exponential(self, size: Any = None) -> Array:
        """float32 of the exponential distribution of mean 1."""
        op = "standard_exponential"
        return self._draw(random.exponential, op, self._new(op, size, FLOAT32), 1.0)

    def standard_gamma(self, shape: Any, size: Any = None) -> Array:
        """float32 of the gamma distribution of that shape and scale 1."""
        return self._sample("standard_gamma", size, "gamma", [("shape", shape, AT_LEAST_0)])

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Array:
        """Whole numbers from ``low`` up to, but not, ``high``, or from 0 up to ``low``."""
        op = "randint"
        least, most = bounds_of(op, low, high, False)
        return self._integers(op, least, most, size, whole_type(op, dtype))

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Array:
        """Whole numbers from ``low`` to ``high``, or from 1 to ``low``, both of them included."""
        op = "random_integers"
        least, most = (1, low) if high is None else (low, high)
        return self._integers(op, *bounds_of(op, least, most, True), size, whole_kind())

    def tomaxint(self, size: Any = None) -> Array:
        """Whole numbers from 0 to 2**31 - 1."""
        return self._integers("tomaxint", 0, 2**31 - 1, size, whole_kind())

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8
    ) -> Array:
        """``Generator.multivariate_normal`` by the singular value decomposition."""
        return self._multivariate_normal(mean, cov, size, check_valid, tol, "svd")

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Array:
        """Draw from the numbers below a whole number, or from a vector, as ``Generator.choice``
        does."""
        if isinstance(a, Array) and a.ndim != 1:
            raise InvalidType("choice", "a", a, "a whole number or a vector")
        return self._choice(a, size, replace, p, 0)

    def permutation(self, x: Any) -> Array:
        """The numbers below a whole number, or an array along its first axis, in a random order."""
        return self._permutation(x, 0)

    def shuffle(self, x: Array) -> None:
        """Gives an array along its first axis a random order."""
        self._shuffle(x, 0)


class _Shared(RandomState):
    """The one of the functions of ``browsergpu.random``: it draws on the device in use."""

    def _where(self, shape: Shape) -> Tracer:
        tracer = open_tracer()
        if tracer is None:
            return nowhere() if 0 in shape else current()
        return tracer

    def __reduce__(self) -> Any:
        return _shared, ()


def _shared() -> _Shared:
    return SHARED


#: What the functions of ``browsergpu.random`` draw from: a random stream until ``seed()``.
SHARED = _Shared()


def get_bit_generator() -> BitGenerator:
    """The stream that the functions of ``browsergpu.random`` draw from."""
    found: BitGenerator = SHARED._bits
    return found


@exclusive
def set_bit_generator(bitgen: BitGenerator) -> None:
    """Have the functions of ``browsergpu.random`` draw from a stream."""
    if not isinstance(bitgen, BitGenerator):
        expected = "one of browsergpu.random.Philox"
        raise InvalidType("set_bit_generator", "bitgen", bitgen, expected)
    SHARED._bits = bitgen
    SHARED.seeds += 1
