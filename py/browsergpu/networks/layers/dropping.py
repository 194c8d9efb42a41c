"""Dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.functions.nn import dropping
from browsergpu.networks.layers.making import placed
from browsergpu.networks.module import Module
from browsergpu.networks.seeding import drawer


class _Dropping(Module):
    """Base of dropout layers, which change nothing outside of training.

    Parameters
    ----------
    p : float
        Probability with which an element is set to 0.
    inplace : bool
        Whether to write the result into the input and return the input, as in PyTorch.
    generator : Generator, optional
        Source of the random numbers, from ``browsergpu.random.default_rng``. By default the one
        that ``browsergpu.nn.init.seed`` seeds.
    """

    _function: Callable[..., Array]

    def __init__(self, p: float = 0.5, inplace: bool = False, *, generator: Any = None) -> None:
        super().__init__()
        op = type(self).__name__
        self.p = checks.fraction(op, "p", p)
        self.inplace = checks.flag(op, "inplace", inplace)
        self.generator = generator

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        if not self.training or not self.p:
            return input
        generator = drawer(type(self).__name__, self.generator, input.device)
        found = self._function(input, self.p, True, generator=generator)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropping):
    """Apply :func:`browsergpu.nn.dropout` in training. Return the input otherwise."""

    _function = staticmethod(dropping.dropout)


class Dropout1d(_Dropping):
    """Apply :func:`browsergpu.nn.dropout1d` in training."""

    _function = staticmethod(dropping.dropout1d)


class Dropout2d(_Dropping):
    """Apply :func:`browsergpu.nn.dropout2d` in training."""

    _function = staticmethod(dropping.dropout2d)


class Dropout3d(_Dropping):
    """Apply :func:`browsergpu.nn.dropout3d` in training."""

    _function = staticmethod(dropping.dropout3d)


class AlphaDropout(_Dropping):
    """Apply :func:`browsergpu.nn.alpha_dropout` in training."""

    _function = staticmethod(dropping.alpha_dropout)


class FeatureAlphaDropout(_Dropping):
    """Apply :func:`browsergpu.nn.feature_alpha_dropout` in training."""

    _function = staticmethod(dropping.feature_alpha_dropout)
