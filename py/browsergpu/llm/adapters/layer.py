"""A linear layer with an adapter of low rank."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation
from browsergpu.functions.nn import tables
from browsergpu.llm.models.linear import Linear
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter


class LoRALinear(Module):
    """Compute base(x) + alpha / rank · B A x + residual (LoRA, arXiv 2106.09685).

    ``A`` is drawn as PEFT does, and ``B`` is zero, so that nothing changes at first.

    Parameters
    ----------
    base : Linear
        The layer, which stays as it is.
    rank : int
        Rows of A.
    alpha : float
        Numerator of the factor.
    source : numpy Generator
        Random numbers for A.
    device : Device
        Where the parameters are.
    """

    def __init__(
        self, base: Linear, rank: int, alpha: float, source: np.random.Generator, device: Any
    ) -> None:
        super().__init__()
        rows, columns = base.weight.shape
        self.base = base
        bound = 1 / sqrt(columns)
        drawn = source.uniform(-bound, bound, (rank, columns)).astype(np.float32)
        self.lora_A = Parameter(creation.asarray(drawn, device=device))
        self.lora_B = Parameter(creation.zeros((rows, rank), dtype=np.float32, device=device))
        self.scale = alpha / rank

    def forward(
        self, x: Array, residual: Array | None = None, norm: RMSNorm | None = None
    ) -> Array:
        """Return an array of shape [..., rows], of x or its norm."""
        x = x if norm is None else norm(x)
        return self.base(x, residual) + self.delta(x)  # type: ignore[no-any-return]

    def delta(self, x: Array) -> Array:
        """Return what the adapter adds, an array of shape [..., rows]."""
        return tables.linear(tables.linear(x, self.lora_A), self.lora_B) * self.scale  # type: ignore[no-any-return]
