"""Transformer decoders, and transformers of an encoder and a decoder."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise
from browsergpu.networks import init
from browsergpu.networks.layers.attention import MultiheadAttention
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.layers.dropping import Dropout
from browsergpu.networks.layers.linear import Linear
from browsergpu.networks.layers.normalization import LayerNorm
from browsergpu.networks.layers.transformer import (
    TransformerEncoder,
    TransformerEncoderLayer,
    activation_of,
)
from browsergpu.networks.module import Module


class TransformerDecoderLayer(Module):
    """Self-attention, attention to a memory, and a feed-forward network of two linear layers.

    Each part is added to its input and then normalized, or normalized first with ``norm_first``.
    Targets are [T, N, d_model] and the memory is [S, N, d_model], or [N, T, d_model] and [N, S,
    d_model] with ``batch_first``.

    Source: Vaswani et al., "Attention is all you need", arXiv 1706.03762; with ``norm_first`` Xiong
    et al., "On layer normalization in the transformer architecture", arXiv 2002.04745.
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "TransformerDecoderLayer"
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **where
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **where
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **where)
        self.norm_first = checks.flag(op, "norm_first", norm_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_of(op, activation)

    def forward(
        self, tgt: Array, memory: Array, tgt_mask: Array | None = None,
        memory_mask: Array | None = None, tgt_key_padding_mask: Array | None = None,
        memory_key_padding_mask: Array | None = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Array:  # fmt: skip
        """Return the decoded targets, of the shape of ``tgt``.

        Masks are as in MultiheadAttention. ``tgt_mask`` is [T, T], ``memory_mask`` [T, S], and the
        padding masks are [N, T] and [N, S]. With ``tgt_is_causal``, target i attends only to the
        first i + 1 targets, with or without a mask. ``memory_is_causal`` does the same for the
        memory.
        """

        def attended(x: Array) -> Array:
            found, _ = self.self_attn(
                x, x, x, tgt_key_padding_mask, need_weights=False, attn_mask=tgt_mask,
                is_causal=tgt_is_causal,
            )  # fmt: skip
            return self.dropout1(found)  # type: ignore[no-any-return]

        def remembered(x: Array) -> Array:
            found, _ = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, need_weights=False,
                attn_mask=memory_mask, is_causal=memory_is_causal,
            )  # fmt: skip
            return self.dropout2(found)  # type: ignore[no-any-return]

        def fed(x: Array) -> Array:
            inner = self.dropout(self.activation(self.linear1(x)))
            return self.dropout3(self.linear2(inner))  # type: ignore[no-any-return]

        x = tgt
        parts = ((attended, self.norm1), (remembered, self.norm2), (fed, self.norm3))
        for part, norm in parts:
            if self.norm_first:
                x = elementwise.add(x, part(norm(x)))
            else:
                x = norm(elementwise.add(x, part(x)))
        return x


class TransformerDecoder(Module):
    """``num_layers`` copies of a layer with the same memory, and an optional final ``norm``."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.num_layers = checks.integer("TransformerDecoder", "num_layers", num_layers, 1)
        self.layers = ModuleList([deepcopy(decoder_layer) for _ in range(self.num_layers)])
        self.norm = norm

    def forward(
        self, tgt: Array, memory: Array, tgt_mask: Array | None = None,
        memory_mask: Array | None = None, tgt_key_padding_mask: Array | None = None,
        memory_key_padding_mask: Array | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Array:  # fmt: skip
        """Return the decoded targets, of the shape of ``tgt``.

        Masks are as in TransformerDecoderLayer. ``tgt_is_causal=None`` means False, and
        ``tgt_mask`` applies in either case.
        """
        x: Array = tgt
        for layer in self.layers:
            x = layer(
                x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder of sources, and a decoder of targets that attends to the encoder's output.

    Both end with a LayerNorm. ``custom_encoder`` and ``custom_decoder`` replace them. Sources are
    [S, N, d_model] and targets [T, N, d_model], or [N, S, d_model] and [N, T, d_model] with
    ``batch_first``.

    Source: Vaswani et al., "Attention is all you need", arXiv 1706.03762.
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", custom_encoder: Module | None = None,
        custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = "Transformer"
        for name, given in (("custom_encoder", custom_encoder), ("custom_decoder", custom_decoder)):
            if given is not None and not isinstance(given, Module):
                raise InvalidType(op, name, given, "a Module or None")
        own = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*own), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*own), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self, src: Array, tgt: Array, src_mask: Array | None = None,
        tgt_mask: Array | None = None, memory_mask: Array | None = None,
        src_key_padding_mask: Array | None = None, tgt_key_padding_mask: Array | None = None,
        memory_key_padding_mask: Array | None = None, src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Array:  # fmt: skip
        """Return the decoded targets, of the shape of ``tgt``.

        Masks are as in TransformerEncoderLayer and TransformerDecoderLayer. None means False for
        ``src_is_causal`` and ``tgt_is_causal``. Raises InvalidArgument for widths other than
        ``d_model``, and for batches of different sizes.
        """
        for name, x in (("src", src), ("tgt", tgt)):
            if not isinstance(x, Array):
                raise InvalidType("Transformer", name, x, "an array")
            if x.ndim not in (2, 3) or x.ndim != src.ndim or x.shape[-1] != self.d_model:
                expected = f"have 2 or 3 axes, as src, and {self.d_model} elements on the last"
                raise InvalidArgument("Transformer", name, x, expected)
        at = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[at] != tgt.shape[at]:
            expected = f"a batch of {src.shape[at]}, as src"
            raise InvalidArgument("Transformer", "tgt", tgt, expected)
        memory = self.encoder(src, src_mask, src_key_padding_mask, bool(src_is_causal))
        return self.decoder(  # type: ignore[no-any-return]
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Array:
        """Return a causal mask [sz, sz] to add to scores.

        It is 0 where query i may attend to a key, the first i + 1 keys, and -infinity elsewhere.
        """
        size = checks.integer("generate_square_subsequent_mask", "sz", sz, 1)
        hidden = creation.full((size, size), float("-inf"), dtype=dtype, device=device)
        return creation.triu(hidden, k=1)
