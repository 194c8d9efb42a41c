"""Dropout."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.functions.nn import activations
from browsergpu.networks.layers.making import placed
from browsergpu.networks.layers.settings import share
from browsergpu.networks.module import Module
from browsergpu.networks.seeding import drawer


class Dropout(Module):
    """Apply :func:`browsergpu.nn.dropout` in training. Return the input otherwise.

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

    def __init__(self, p: float = 0.5, inplace: bool = False, *, generator: Any = None) -> None:
        super().__init__()
        self.p = share("Dropout", "p", p)
        self.inplace = checks.flag("Dropout", "inplace", inplace)
        self.generator = generator

    def forward(self, input: Array) -> Array:
        """Return an array of the input's shape."""
        if not self.training or not self.p:
            return input
        generator = drawer("Dropout", self.generator, input.device)
        found = activations.dropout(input, self.p, generator=generator)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"p={self.p}, inplace={self.inplace}"
