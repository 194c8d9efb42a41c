"""Multi-head attention."""

from __future__ import annotations

from math import sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.linalg import linear
from browsergpu.functions.nn import activations, attention, dropping, tables
from browsergpu.functions.nn.attention_gradients import shares_of
from browsergpu.networks import init
from browsergpu.networks.layers.linear import Linear
from browsergpu.networks.layers.making import optional
from browsergpu.networks.module import Module
from browsergpu.networks.seeding import drawer

_OP = "MultiheadAttention"


class MultiheadAttention(Module):
    """Attention with several heads, as PyTorch's.

    Parameters
    ----------
    embed_dim : int
        Width E of queries and outputs.
    num_heads : int
        Number of heads, a divisor of ``embed_dim``.
    dropout : float
        Probability with which a weight is set to 0 in training.
    bias : bool
        Whether projections have biases.
    kdim, vdim : int, optional
        Widths of keys and values. ``embed_dim`` by default.
    batch_first : bool
        Whether the batch is the first axis.

    Notes
    -----
    ``in_proj_weight`` is [3 E, E], with the rows for queries, keys and values in this order. With
    another ``kdim`` or ``vdim``, the weights are ``q_proj_weight`` [E, E], ``k_proj_weight`` [E,
    kdim] and ``v_proj_weight`` [E, vdim] instead. ``in_proj_bias`` is [3 E].

    Source: Vaswani et al., "Attention is all you need", arXiv 1706.03762.
    """

    in_proj_weight: Array | None
    in_proj_bias: Array | None

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        width = self.embed_dim = checks.integer(_OP, "embed_dim", embed_dim, 1)
        self.num_heads = checks.integer(_OP, "num_heads", num_heads, 1)
        for name, value in (("add_bias_kv", add_bias_kv), ("add_zero_attn", add_zero_attn)):
            if checks.flag(_OP, name, value):
                raise InvalidArgument(_OP, name, value, "False (append such a key yourself)")
        if width % self.num_heads:
            raise InvalidArgument(_OP, "embed_dim", embed_dim, f"a multiple of {num_heads} heads")
        self.head_dim = width // self.num_heads
        self.kdim = width if kdim is None else checks.integer(_OP, "kdim", kdim, 1)
        self.vdim = width if vdim is None else checks.integer(_OP, "vdim", vdim, 1)
        self.dropout = checks.fraction(_OP, "dropout", dropout)
        self.batch_first = checks.flag(_OP, "batch_first", batch_first)
        is_one = self.kdim == self.vdim == width
        optional(self, "in_proj_weight", is_one, (3 * width, width), device, dtype)
        inside = {"q_proj_weight": width, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, own in inside.items():
            optional(self, name, not is_one, (width, own), device, dtype)
        optional(self, "in_proj_bias", bias, (3 * width,), device, dtype)
        self.out_proj = Linear(width, width, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights from Xavier's uniform distribution, and biases to 0."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(
        self, query: Array, key: Array, value: Array, key_padding_mask: Array | None = None,
        need_weights: bool = True, attn_mask: Array | None = None,
        average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Array, Array | None]:  # fmt: skip
        """Return the attention output, and the attention weights or None.

        Without weights and dropout, no matrix of scores is stored.

        Parameters
        ----------
        query : Array
            [S, N, E], or [N, S, E] with ``batch_first``, or [S, E].
        key, value : Array
            [T, N, kdim] and [T, N, vdim], or with the axes in the order of ``query``.
        key_padding_mask : Array, optional
            Mask of shape [N, T].
        need_weights : bool
            Whether to return the weights.
        attn_mask : Array, optional
            Mask of shape [S, T] or [N heads, S, T].
        average_attn_weights : bool
            Whether to return the mean of the heads' weights.
        is_causal : bool
            Whether query i attends only to the first i + 1 keys.

        Returns
        -------
        tuple
            The output, of the shape of ``query``. Then the weights [N, S, T], or [N, heads, S, T]
            without averaging, or None.

        Notes
        -----
        Masks are as in PyTorch: a bool mask is True where a key is *not* attended to, a float mask
        is added to the scores. A query without any key gets weights of 0. PyTorch returns NaN when
        it returns weights.
        """
        is_alone = query.ndim == 2
        own = [self._batches(name, x, query) for name, x in
               (("query", query), ("key", key), ("value", value))]  # fmt: skip
        q, k, v = (self._heads(x) for x in self._projected(*own))
        mask = self._mask(attn_mask, key_padding_mask, q, k)
        causal = checks.flag(_OP, "is_causal", is_causal)
        drops = self.training and self.dropout > 0
        weights = None
        if need_weights or drops:
            weights = self._weights(q, k, mask, causal)
            kept = dropping.dropout(
                weights, self.dropout, generator=drawer(_OP, None, query.device)
            ) if drops else weights  # fmt: skip
            found = linear.matmul(kept, v)
        else:
            found = attention.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
        batches, _, count, _ = found.shape
        joined = manipulation.permute_dims(found, (0, 2, 1, 3))
        result = self.out_proj(joined.reshape((batches, count, self.embed_dim)))
        if not self.batch_first and not is_alone:
            result = manipulation.moveaxis(result, 0, 1)
        shown = None
        if need_weights and weights is not None:
            shown = statistics.mean(weights, axis=1) if average_attn_weights else weights
            shown = shown[0] if is_alone else shown
        return (result[0] if is_alone else result), shown

    def _batches(self, name: str, x: Any, query: Any) -> Array:
        """Return an input as [N, length, width]."""
        if not isinstance(x, Array):
            raise InvalidType(_OP, name, x, "an array")
        width = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}[name]
        if x.ndim not in (2, 3) or x.ndim != query.ndim or x.shape[-1] != width:
            expected = f"have 2 or 3 axes, as query, and {width} elements on the last"
            raise InvalidArgument(_OP, name, x, expected)
        if x.ndim == 2:
            return manipulation.expand_dims(x, axis=0)
        return x if self.batch_first else manipulation.moveaxis(x, 0, 1)

    def _projected(self, q: Array, k: Array, v: Array) -> list[Array]:
        width, bias = self.embed_dim, self.in_proj_bias
        added: Any = [None] * 3
        if bias is not None:
            added = manipulation.unstack(bias.reshape((3, width)))
        joined = self.in_proj_weight
        if joined is None:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        else:
            weights = [*manipulation.unstack(joined.reshape((3, width, width)))]
        return [
            tables.linear(x, weight, one)
            for x, weight, one in zip((q, k, v), weights, added, strict=True)
        ]

    def _heads(self, x: Array) -> Array:
        """Split the last axis into heads: [N, heads, length, width of a head]."""
        apart = x.reshape((*x.shape[:2], self.num_heads, self.head_dim))
        return manipulation.permute_dims(apart, (0, 2, 1, 3))

    def _weights(self, q: Array, k: Array, mask: Array | None, causal: bool) -> Array:
        scores = linear.matmul(
            elementwise.multiply(q, 1 / sqrt(self.head_dim)), manipulation.matrix_transpose(k)
        )
        if mask is not None:
            scores = elementwise.add(scores, mask)
        if causal:
            seen = creation.tril(creation.ones(scores.shape[-2:], dtype="bool", device=q.device))
            scores = elementwise.where(seen, scores, float("-inf"))
        return activations.softmax(scores, -1) if mask is None else shares_of(scores)

    def _mask(self, attn_mask: Any, key_padding_mask: Any, q: Array, k: Array) -> Array | None:
        """Return the mask to add to the scores, [N or 1, heads or 1, S or 1, T]."""
        batches, rows, columns = q.shape[0], q.shape[2], k.shape[2]
        found: Array | None = None
        if attn_mask is not None:
            own = _added("attn_mask", attn_mask, q)
            if own.shape == (rows, columns):
                found = own.reshape((1, 1, rows, columns))
            elif own.shape == (batches * self.num_heads, rows, columns):
                found = own.reshape((batches, self.num_heads, rows, columns))
            else:
                expected = f"have shape ({rows}, {columns}), or {batches * self.num_heads} of these"
                raise InvalidArgument(_OP, "attn_mask", Description(f"shape {own.shape}"), expected)
        if key_padding_mask is not None:
            own = _added("key_padding_mask", key_padding_mask, q)
            if own.shape not in ((batches, columns), (columns,) if batches == 1 else ()):
                expected = f"have shape {(batches, columns)}"
                raise InvalidArgument(
                    _OP, "key_padding_mask", Description(f"shape {own.shape}"), expected
                )
            own = own.reshape((batches, 1, 1, columns))
            found = own if found is None else elementwise.add(found, own)
        return found


def _added(name: str, mask: Any, like: Array) -> Array:
    """Convert a mask to floats to add to the scores."""
    if not isinstance(mask, Array) or mask.dtype.kind not in "bf":
        raise InvalidType(_OP, name, mask, "an array of bools or floats")
    if mask.dtype.kind == "f":
        return mask
    zeros = creation.zeros(mask.shape, dtype=like.dtype, device=like.device)
    return elementwise.where(mask, float("-inf"), zeros)
