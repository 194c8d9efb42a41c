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
    """:func:`browsergpu.nn.dropout` in training, else nothing. ``generator``, of
    ``browsergpu.random.default_rng``, says which elements become 0; without one that of
    ``browsergpu.nn.init.seed`` does. ``inplace`` writes the result into the input,
    which the call gives back, as in PyTorch."""

    def __init__(self, p: float = 0.5, inplace: bool = False, *, generator: Any = None) -> None:
        super().__init__()
        self.p = share("Dropout", "p", p)
        self.inplace = checks.flag("Dropout", "inplace", inplace)
        self.generator = generator

    def forward(self, input: Array) -> Array:
        """The shape of the input."""
        if not self.training or not self.p:
            return input
        generator = drawer("Dropout", self.generator, input.device)
        found = activations.dropout(input, self.p, generator=generator)
        return placed(found, input, self.inplace)

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"p={self.p}, inplace={self.inplace}"
