"""Probability distributions, as ``torch.distributions``: normal, categorical, Bernoulli."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.core.errors import InvalidArgument, UnknownName, Unsupported
from browsergpu.core.showing import Shown
from browsergpu.functions import elementwise, manipulation
from browsergpu.functions.nn import activations
from browsergpu.functions.ordering import sorting
from browsergpu.torch.nn import functional
from browsergpu.torch.tensors import randoms, reductions
from browsergpu.torch.tensors.creation import as_tensor
from browsergpu.torch.tensors.tensor import Size, as_tensors


def _broadcast(*given: Any) -> tuple[Any, ...]:
    own = [x if isinstance(x, Array) else as_tensor(float(x)) for x in given]
    return as_tensors(tuple(manipulation.broadcast_arrays(*own)))  # type: ignore[no-any-return]


class Distribution(Shown):
    """Base class of distributions."""

    has_rsample = False
    _shape: Any = ()

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
        del validate_args
        self.loc, self.scale = _broadcast(loc, scale)
        self._shape = tuple(self.loc.shape)

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
        gap = (value - self.loc) / self.scale
        return -0.5 * gap * gap - elementwise.log(self.scale) - 0.5 * log(2 * pi)

    def entropy(self) -> Any:
        """Return the entropy."""
        return 0.5 + 0.5 * log(2 * pi) + self.scale.log()

    def cdf(self, value: Any) -> Any:
        """Return the probability of smaller values."""
        return 0.5 * (1 + ((value - self.loc) / self.scale / sqrt(2)).erf())


def _one_of(name: str, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise InvalidArgument(name, "probs", probs, "given, or logits, and not both")


class Categorical(Distribution):
    """A choice among the numbers from 0."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        del validate_args
        _one_of("Categorical", probs, logits)
        if probs is not None:
            self.probs = as_tensors(probs / reductions.sum(probs, -1, True))
            self.logits = self.probs.clamp(1e-7, 1).log()
        else:
            self.logits = as_tensors(activations.log_softmax(logits, -1))
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
        where = manipulation.expand_dims(value.long(), -1)
        rows = manipulation.broadcast_to(self.logits, (*value.shape, self.logits.shape[-1]))
        return as_tensors(manipulation.squeeze(sorting.take_along_axis(rows, where, axis=-1), -1))

    def entropy(self) -> Any:
        """Return the entropy."""
        return -(self.logits * self.probs).sum(-1)


class Bernoulli(Distribution):
    """1 with a probability, else 0."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        del validate_args
        _one_of("Bernoulli", probs, logits)
        if probs is not None:
            (self.probs,) = _broadcast(probs)
            own = self.probs.clamp(1e-7, 1 - 1e-7)
            self.logits = own.log() - (1 - own).log()
        else:
            (self.logits,) = _broadcast(logits)
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
        logits, target = manipulation.broadcast_arrays(self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, target, reduction="none")

    def entropy(self) -> Any:
        """Return the entropy."""
        return functional.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence of two distributions of one kind."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = (p.scale / q.scale) ** 2
        gap = ((p.loc - q.loc) / q.scale) ** 2
        return 0.5 * (ratio + gap - 1 - ratio.log())
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return (p.probs * (p.logits - q.logits)).sum(-1)
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        of_one = p.probs * (p.probs.log() - q.probs.log())
        return of_one + (1 - p.probs) * ((1 - p.probs).log() - (1 - q.probs).log())
    names = f"{type(p).__name__} and {type(q).__name__}"
    raise Unsupported("kl_divergence", f"there is no formula for {names}.")


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.distributions.{name}", "it is not available.")
