"""Learned lookup tables."""

from __future__ import annotations

from typing import Any, Self

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import plain
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import elementwise, manipulation
from browsergpu.functions.nn import tables
from browsergpu.networks import init
from browsergpu.networks.layers.making import parameter
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter


class Embedding(Module):
    """Look up rows of ``weight``, [num_embeddings, embedding_dim], by integer indices.

    Parameters
    ----------
    num_embeddings : int
        Number of rows.
    embedding_dim : int
        Width of a row.
    padding_idx : int, optional
        Index of a row that starts as zeros and is not learned. Negative indices count from the end.
    """

    weight: Array

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "Embedding"
        self.num_embeddings = checks.integer(op, "num_embeddings", num_embeddings, 1)
        self.embedding_dim = checks.integer(op, "embedding_dim", embedding_dim, 1)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            count = self.num_embeddings
            self.padding_idx = (
                checks.integer(op, "padding_idx", padding_idx, -count, count - 1) % count
            )
        self.weight = parameter((self.num_embeddings, self.embedding_dim), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the rows from the standard normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0

    @classmethod
    def from_pretrained(
        cls, embeddings: Array, freeze: bool = True, padding_idx: int | None = None
    ) -> Self:
        """Return an Embedding whose rows are an array's, which are not learned if ``freeze``."""
        op = "from_pretrained"
        if not isinstance(embeddings, Array):
            raise InvalidType(op, "embeddings", embeddings, "an array")
        if embeddings.ndim != 2:
            raise InvalidArgument(op, "embeddings", embeddings, "have two axes")
        rows, width = embeddings.shape
        made = cls(rows, width, padding_idx, embeddings.device, embeddings.dtype)
        made.weight = Parameter(embeddings, not checks.flag(op, "freeze", freeze))
        return made

    def forward(self, input: Array) -> Array:
        """Return the rows, [..., embedding_dim]."""
        found = tables.embedding(input, self.weight)
        if self.padding_idx is None or not found.requires_grad:
            return found
        # The padding rows are taken without their gradient.
        is_padding = manipulation.expand_dims(elementwise.equal(input, self.padding_idx), axis=-1)
        return elementwise.where(is_padding, plain(found), found)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
