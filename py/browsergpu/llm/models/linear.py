"""Linear layers, and several of the same input whose matrices are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, manipulation
from browsergpu.functions.language import quantized
from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.functions.nn import tables
from browsergpu.llm.models.norms import RMSNorm, is_tracked
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class Linear(Module):
    """Compute x weightᵀ + bias + residual.

    Parameters
    ----------
    weight : Array or QuantizedArray
        Shape [rows, columns].
    bias : Array, optional
        Shape [rows].
    """

    def __init__(self, weight: Array | QuantizedArray, bias: Array | None) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(
        self, x: Array, residual: Array | None = None, norm: RMSNorm | None = None
    ) -> Array:
        """Return an array of shape [..., rows], of x or its norm."""
        if norm is not None and isinstance(self.weight, QuantizedArray) and not is_tracked(x):
            return quantized.decoder_linear(
                x, self.weight, residual, self.bias, norm=norm.weight, eps=norm.eps
            )
        x = x if norm is None else norm(x)
        if isinstance(self.weight, QuantizedArray):
            return quantized.linear(x, self.weight, residual, self.bias)
        found = tables.linear(x, self.weight, self.bias)
        return found if residual is None else found + residual

    def gated(self, x: Array, gate: str, norm: RMSNorm | None = None) -> Array:
        """Return a function of the first half of the rows, times the second half.

        ``gate`` names the function, as ``functions.language.quantized.GATES``.
        """
        if not isinstance(self.weight, QuantizedArray) or is_tracked(x):
            return quantized.gated(self(x, norm=norm), gate)
        factors, eps = (None, 0.0) if norm is None else (norm.weight, norm.eps)
        return quantized.decoder_linear(
            x, self.weight, None, self.bias, norm=factors, eps=eps, gate=gate
        )


def linear(weights: Weights, name: str, rows: int, columns: int) -> Linear:
    """Return a layer of the file, with the file's bias if it has one."""
    return Linear(
        weights.matrix(f"{name}.weight", rows, columns),
        weights.optional_vector(f"{name}.bias", rows),
    )


class Joined(Module):
    """Compute several linear layers of the same input as one product.

    Parameters
    ----------
    whole : Linear
        The layer with the rows of all.
    rows : sequence of int
        The rows of each.
    """

    def __init__(self, whole: Linear, rows: Sequence[int]) -> None:
        super().__init__()
        self.whole, self.rows = whole, tuple(rows)

    def forward(self, x: Array, layers: Sequence[Module], norm: RMSNorm | None = None) -> Array:
        """Return the results of the layers side by side, an array of shape [..., all rows].

        The layers are those of the rows, or adapters around them. Their input is x or its norm.
        """
        if not _are_adapted(layers):
            return self.whole(x, norm=norm)  # type: ignore[no-any-return]
        x = x if norm is None else norm(x)
        sides = [
            creation.zeros((*x.shape[:-1], rows), dtype=x.dtype, device=x.device)
            if isinstance(layer, Linear)
            else layer.delta(x)
            for layer, rows in zip(layers, self.rows, strict=True)
        ]
        return self.whole(x) + manipulation.concat(sides, axis=-1)  # type: ignore[no-any-return]

    def gated(
        self, x: Array, layers: Sequence[Module], gate: str, norm: RMSNorm | None = None
    ) -> Array:
        """Return a function of the first of two layers, times the second, as ``Linear.gated``."""
        if _are_adapted(layers):
            return quantized.gated(self(x, layers, norm), gate)
        return self.whole.gated(x, gate, norm)


def _are_adapted(layers: Sequence[Module]) -> bool:
    return not all(isinstance(layer, Linear) for layer in layers)


def joined(
    weights: Weights, names: Sequence[str], rows: Sequence[int], columns: int
) -> tuple[Joined, list[Linear]] | None:
    """Return layers of the file as one product, and the layers, which share its memory.

    None if their formats differ, or if only some have a bias.
    """
    biased = {f"{name}.bias" in weights for name in names}
    if len(biased) > 1:
        return None
    found = weights.joined([f"{name}.weight" for name in names], rows, columns)
    if found is None:
        return None
    whole, parts = found
    biases = [
        weights.optional_vector(f"{name}.bias", count)
        for name, count in zip(names, rows, strict=True)
    ]
    own = [one for one in biases if one is not None]
    bias = manipulation.concat(own) if own else None
    layers = [Linear(part, one) for part, one in zip(parts, biases, strict=True)]
    return Joined(Linear(whole, bias), rows), layers


def layers_of(
    weights: Weights, rows: Mapping[str, int], columns: int, counts: Sequence[int]
) -> tuple[Joined | None, list[Linear]]:
    """Return layers of the file by name, and the product of the first ones of them.

    ``counts`` are numbers of first layers to join. The first number that is possible is joined.
    None if there is none.
    """
    names = list(rows)
    for count in counts:
        group = names[:count]
        found = joined(weights, group, [rows[name] for name in group], columns)
        if found is not None:
            product, layers = found
            rest = [linear(weights, name, rows[name], columns) for name in names[count:]]
            return product, [*layers, *rest]
    return None, [linear(weights, name, count, columns) for name, count in rows.items()]
