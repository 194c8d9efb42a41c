"""Transformer encoders."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import elementwise
from browsergpu.functions.nn import activations
from browsergpu.networks.layers.attention import MultiheadAttention
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.layers.dropping import Dropout
from browsergpu.networks.layers.linear import Linear
from browsergpu.networks.layers.normalization import LayerNorm
from browsergpu.networks.module import Module


def activation_of(op: str, activation: Any) -> Callable[[Array], Array]:
    """Return the function for "relu" or "gelu", or the given function."""
    if activation == "relu":
        return lambda x: activations.relu(x)
    if activation == "gelu":
        return lambda x: activations.gelu(x)
    if not callable(activation):
        raise InvalidArgument(op, "activation", activation, "'relu', 'gelu' or a function")
    return activation  # type: ignore[no-any-return]


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network of two linear layers.

    Each part is added to its input and then normalized, or normalized first with ``norm_first``.
    Inputs are [S, N, d_model], or [N, S, d_model] with ``batch_first``.

    Source: Vaswani et al., "Attention is all you need", arXiv 1706.03762; with ``norm_first`` Xiong
    et al., "On layer normalization in the transformer architecture", arXiv 2002.04745.
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "TransformerEncoderLayer"
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **where
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **where)
        self.norm_first = checks.flag(op, "norm_first", norm_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_of(op, activation)

    def forward(
        self, src: Array, src_mask: Array | None = None,
        src_key_padding_mask: Array | None = None, is_causal: bool = False,
    ) -> Array:  # fmt: skip
        """Return the encoded input, of the shape of ``src``. Masks are as in MultiheadAttention."""

        def attended(x: Array) -> Array:
            found, _ = self.self_attn(
                x, x, x, src_key_padding_mask, need_weights=False, attn_mask=src_mask,
                is_causal=is_causal,
            )  # fmt: skip
            return self.dropout1(found)  # type: ignore[no-any-return]

        def fed(x: Array) -> Array:
            inner = self.dropout(self.activation(self.linear1(x)))
            return self.dropout2(self.linear2(inner))  # type: ignore[no-any-return]

        x = src
        if self.norm_first:
            x = elementwise.add(x, attended(self.norm1(x)))
            return elementwise.add(x, fed(self.norm2(x)))
        x = self.norm1(elementwise.add(x, attended(x)))
        return self.norm2(elementwise.add(x, fed(x)))  # type: ignore[no-any-return]


class TransformerEncoder(Module):
    """``num_layers`` copies of a layer, and an optional final ``norm``.

    ``enable_nested_tensor`` and ``mask_check`` select PyTorch's implementation, and have no effect.
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        checks.flag("TransformerEncoder", "enable_nested_tensor", enable_nested_tensor)
        checks.flag("TransformerEncoder", "mask_check", mask_check)
        self.num_layers = checks.integer("TransformerEncoder", "num_layers", num_layers, 1)
        self.layers = ModuleList([deepcopy(encoder_layer) for _ in range(self.num_layers)])
        self.norm = norm

    def forward(
        self, src: Array, mask: Array | None = None,
        src_key_padding_mask: Array | None = None, is_causal: bool = False,
    ) -> Array:  # fmt: skip
        """Return the encoded input, of the shape of ``src``. Masks are as in MultiheadAttention."""
        x: Array = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, is_causal)
        return x if self.norm is None else self.norm(x)
