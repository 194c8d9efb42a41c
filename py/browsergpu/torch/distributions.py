"""Probability distributions, as ``torch.distributions``: normal, categorical, Bernoulli."""

from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, UnknownName, Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import elementwise, manipulation
from browsergpu.functions.nn import activations
from browsergpu.functions.ordering import sorting
from browsergpu.torch.nn import functional
from browsergpu.torch.tensors import randoms, reductions
from browsergpu.torch.tensors.creation import as_tensor
from browsergpu.torch.tensors.tensor import BatchedTensor, Size, as_tensors

#: The smallest probability whose logarithm is taken, as in PyTorch.
_EPS = float(np.finfo(np.float32).eps)


def _broadcast(*given: Any) -> tuple[Any, ...]:
    own = [x if isinstance(x, Array) else as_tensor(float(x)) for x in given]
    return as_tensors(tuple(manipulation.broadcast_arrays(*own)))  # type: ignore[no-any-return]


def _is_readable(x: Any) -> bool:
    graphs = x.device.graphs
    return type(x) is not BatchedTensor and (graphs is None or graphs.open is None)


def _is_number(x: Any) -> Any:
    return elementwise.equal(x, x)


class Distribution(Shown):
    """Base class of distributions.

    By default, parameters and values are checked, which waits for the GPU. With
    ``validate_args=False``, or after ``Distribution.set_default_validate_args(False)``, nothing is
    checked.
    """

    has_rsample = False
    _shape: Any = ()
    _validates: bool | None = None

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether parameters and values are checked where ``validate_args`` is not given."""
        Distribution._validates = None if value else False

    def _check(self, argument: str, x: Any, is_right: Any, expected: str) -> None:
        """Raise an error if a parameter or value is not right. Waits for the GPU.

        By default, this reads nothing in compiled functions, captured blocks and ``vmap``.
        """
        if self._validates is False or (self._validates is None and not _is_readable(x)):
            return
        with no_grad():
            if not bool(is_right(x.detach()).all()):
                advice = "validate_args=False turns this check off."
                raise InvalidArgument(type(self).__name__, argument, x, expected, advice)

    def _check_value(self, value: Any, is_right: Any, expected: str) -> None:
        """Check a value before its broadcasting."""
        if not isinstance(value, Array):
            raise InvalidArgument(type(self).__name__, "value", value, "a tensor")
        manipulation.broadcast_shapes(tuple(value.shape), tuple(self._shape))
        self._check("value", value, is_right, expected)

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return Size(())

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return Size(self._shape)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw values, without gradients."""
        with no_grad():
            return as_tensors(self._drawn((*sample_shape, *self._shape)))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw values that have gradients with respect to the parameters."""
        if not self.has_rsample:
            raise Unsupported("rsample", f"{type(self).__name__} has no gradient. Use sample().")
        return as_tensors(self._drawn((*sample_shape, *self._shape)))

    def _drawn(self, shape: Any) -> Any:
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at values."""
        raise NotImplementedError


class Normal(Distribution):
    """The normal distribution."""

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        self._validates = _flag("Normal", validate_args)
        self.loc, self.scale = _broadcast(loc, scale)
        self._shape = tuple(self.loc.shape)
        self._check("loc", self.loc, _is_number, "numbers")
        self._check("scale", self.scale, lambda x: elementwise.greater(x, 0), "above 0")

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.scale**2

    def _drawn(self, shape: Any) -> Any:
        return self.loc + self.scale * randoms.rng_of(None).standard_normal(shape)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density."""
        self._check_value(value, _is_number, "numbers")
        gap = (value - self.loc) / self.scale
        return -0.5 * gap * gap - elementwise.log(self.scale) - 0.5 * log(2 * pi)

    def entropy(self) -> Any:
        """Return the entropy."""
        return 0.5 + 0.5 * log(2 * pi) + self.scale.log()

    def cdf(self, value: Any) -> Any:
        """Return the probability of smaller values."""
        self._check_value(value, _is_number, "numbers")
        return 0.5 * (1 + ((value - self.loc) / self.scale / sqrt(2)).erf())


def _flag(name: str, validate_args: Any) -> bool | None:
    if validate_args is None:
        return Distribution._validates
    return checks.flag(name, "validate_args", validate_args)


def _is_choice(x: Any, count: int) -> Any:
    is_inside = elementwise.logical_and(x >= 0, x < count)
    if x.dtype.kind != "f":
        return is_inside
    return elementwise.logical_and(is_inside, elementwise.equal(elementwise.floor(x), x))


def _one_of(name: str, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise InvalidArgument(name, "probs", probs, "given, or logits, and not both")


class Categorical(Distribution):
    """A choice among the numbers from 0."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._validates = _flag("Categorical", validate_args)
        _one_of("Categorical", probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if not given.shape:
            raise InvalidArgument("Categorical", name, given, "have an axis")
        if probs is not None:
            self.probs = as_tensors(probs / reductions.sum(probs, -1, True))
            self._check(name, self.probs, lambda x: elementwise.greater_equal(x, 0), "at least 0")
            self.logits = self.probs.clamp(_EPS, 1 - _EPS).log()
        else:
            self.logits = as_tensors(activations.log_softmax(logits, -1))
            self._check(name, self.logits, _is_number, "numbers")
            self.probs = self.logits.exp()
        self._shape = tuple(self.logits.shape[:-1])

    def _drawn(self, shape: Any) -> Any:
        count = 1
        ahead = shape[: len(shape) - len(self._shape)]
        for one in ahead:
            count *= one
        flat = self.probs.reshape(-1, self.probs.shape[-1])
        found = randoms.multinomial(flat, count, True).t()
        return found.reshape(*shape) if shape else found.reshape(())

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of numbers."""
        count = self.logits.shape[-1]
        self._check_value(value, lambda x: _is_choice(x, count), f"integers from 0 to {count - 1}")
        shape = manipulation.broadcast_shapes(tuple(value.shape), self._shape)
        where = manipulation.expand_dims(manipulation.broadcast_to(value.long(), shape), -1)
        rows = manipulation.broadcast_to(self.logits, (*shape, count))
        return as_tensors(manipulation.squeeze(sorting.take_along_axis(rows, where, axis=-1), -1))

    def entropy(self) -> Any:
        """Return the entropy."""
        least = float(np.finfo(np.float32).min)  # 0 times it is 0
        return -(self.logits.clamp(least) * self.probs).sum(-1)


class Bernoulli(Distribution):
    """1 with a probability, else 0."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._validates = _flag("Bernoulli", validate_args)
        _one_of("Bernoulli", probs, logits)
        if probs is not None:
            (self.probs,) = _broadcast(probs)
            self._check("probs", self.probs, lambda x: (x >= 0) & (x <= 1), "from 0 to 1")
            own = self.probs.clamp(_EPS, 1 - _EPS)
            self.logits = own.log() - (1 - own).log()
        else:
            (self.logits,) = _broadcast(logits)
            self._check("logits", self.logits, _is_number, "numbers")
            self.probs = self.logits.sigmoid()
        self._shape = tuple(self.probs.shape)

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def _drawn(self, shape: Any) -> Any:
        drawn = randoms.rng_of(None).random(shape)
        return (drawn < self.probs) * 1.0

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of 0 or 1."""
        self._check_value(value, lambda x: (x == 0) | (x == 1), "0 or 1")
        logits, target = manipulation.broadcast_arrays(self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, target, reduction="none")

    def entropy(self) -> Any:
        """Return the entropy."""
        return functional.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )


def _with_limits(terms: Any, p: Any, q: Any) -> Any:
    """Return the terms of a divergence, infinite where only q is 0, and 0 where p is 0."""
    found = elementwise.where(elementwise.equal(q, 0), inf, terms)
    return as_tensors(elementwise.where(elementwise.equal(p, 0), 0.0, found))


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence of two distributions of one kind."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = (p.scale / q.scale) ** 2
        gap = ((p.loc - q.loc) / q.scale) ** 2
        return 0.5 * (ratio + gap - 1 - ratio.log())
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        terms = p.probs * (p.logits - q.logits)
        return _with_limits(terms, p.probs, q.probs).sum(-1)
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        of_one = p.probs * (p.probs.log() - q.probs.log())
        of_zero = (1 - p.probs) * ((1 - p.probs).log() - (1 - q.probs).log())
        return _with_limits(of_one, p.probs, q.probs) + _with_limits(
            of_zero, 1 - p.probs, 1 - q.probs
        )
    names = f"{type(p).__name__} and {type(q).__name__}"
    raise Unsupported("kl_divergence", f"there is no formula for {names}.")


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.distributions.{name}", "it is not available.")
