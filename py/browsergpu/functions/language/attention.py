"""Rotary position embeddings, and attention to a cache of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.arrays.in_place import become
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.grids import fits
from browsergpu.engine.kernels.networks.cached_attention import WIDEST
from browsergpu.engine.kernels.networks.rotary import row_words
from browsergpu.engine.tensors.language import attention
from browsergpu.functions.custom.memory import writable
from browsergpu.functions.language.gradients import refusing_gradients
from browsergpu.functions.nn import inputs


@refusing_gradients("nn.rms_norm")
@constant
def rms_norm(x: Array, weight: Array, eps: float, residual: Array | None = None) -> Array:
    """Return :func:`browsergpu.nn.rms_norm` over the last axis, plus a residual, by one kernel.

    It has no gradient.

    Parameters
    ----------
    x : Array
        Shape [..., N], float32.
    weight : Array
        Shape [N], float32.
    eps : float
        Added to the mean of squares.
    residual : Array, optional
        Shape of ``x``, float32.
    """
    op = "rms_norm"
    own = apply.packed(apply.cast_to(op, inputs.floats(op, "x", x), FLOAT32, copy=False))
    if not own.ndim:
        raise InvalidArgument(op, "x", own, "have at least 1 axis")
    factor = inputs.shaped(op, "weight", inputs.floats(op, "weight", weight), own.shape[-1:])
    factor = apply.packed(apply.cast_to(op, factor, FLOAT32, copy=False))
    added = None
    if residual is not None:
        added = inputs.shaped(op, "residual", inputs.floats(op, "residual", residual), own.shape)
        added = apply.packed(apply.cast_to(op, added, FLOAT32, copy=False))
    made = inputs.room(op, own, FLOAT32, own.shape)
    if made.size:
        small = checks.nonnegative(op, "eps", eps)
        attention.rms_norm(
            own.device, op, inputs.memory(own), inputs.memory(factor), inputs.memory(made),
            inputs.memory_of(added), eps=small,
        )  # fmt: skip
    return made


@refusing_gradients("arithmetic of cosines and sines")
@constant
def rotate(x: Array, angles: Array, position: Array, adjacent: bool = False) -> Array:
    """Return queries or keys with rotary position embeddings.

    Parameters
    ----------
    x : Array
        Shape [T, H, D], float32. T / S tokens of each of S sequences, which follow each other.
    angles : Array
        Cosine and sine of each pair at each position, float32 of shape [P, R / 2, 2]. The first R
        elements of each head turn.
    position : Array
        The position of the first token of each sequence, int32 of shape [S].
    adjacent : bool
        Whether neighbors are a pair. Otherwise pairs are R / 2 apart.
    """
    op = "rotate"
    own = _heads(op, x)
    _check_angles(op, own, angles, position)
    made = inputs.room(op, own, FLOAT32, own.shape)
    if made.size:
        views = (inputs.memory(one) for one in (own, angles, position, position, made))
        attention.rotate(own.device, op, *views, adjacent=checks.flag(op, "adjacent", adjacent))
    return made


@refusing_gradients("nn.scaled_dot_product_attention")
@constant
def store(
    x: Array, cache: Array, angles: Array, position: Array, slots: Array, adjacent: bool = False
) -> None:
    """Write keys or values with rotary position embeddings to a cache, in place.

    Parameters
    ----------
    x : Array
        Shape [T, H, D], float32. D is a multiple of 4.
    cache : Array
        Shape [N, H, C, D], float32. Or uint32 of shape [N, H, C, row_words(D)], in which numbers
        have 8 bits, and each 32 of a head a factor. Positions from C on are not written.
    angles, position, adjacent
        As :func:`rotate` takes them. Angles of shape [P, 0, 2] write x unchanged.
    slots : Array
        The sequences' places in the cache's first axis, int32 of the shape of ``position``.
    """
    op = "store"
    own = _heads(op, x)
    _check_angles(op, own, angles, position)
    _check_slots(op, slots, position)
    _check_cache(op, "cache", cache, own.shape[1], own.shape[2])
    if not own.size or not cache.size:
        return
    made = writable(cache, [cache])
    views = (inputs.memory(one) for one in (own, angles, position, slots, made))
    attention.rotate(own.device, op, *views, adjacent=checks.flag(op, "adjacent", adjacent))
    become(cache, made)


@refusing_gradients("nn.scaled_dot_product_attention")
@constant
def split_heads(
    x: Array, heads: int, keys: Array, values: Array, angles: Array, position: Array, slots: Array,
    adjacent: bool = False, norms: Array | None = None, eps: float = 0.0,
) -> Array:  # fmt: skip
    """Return rotated queries, and write rotated keys, and values, to a cache, by one kernel.

    Parameters
    ----------
    x : Array
        Queries, keys and values of each token side by side: float32 of shape [T, H + 2G, D]. Or
        only queries and keys, of shape [T, H + G, D]. D is a multiple of 4, at most 512.
    heads : int
        H.
    keys, values : Array
        The cache, with G heads, as :func:`store` writes it. Values are written if x has them.
    angles, position, slots, adjacent
        As :func:`store` takes them, for queries and keys.
    norms : Array, optional
        Weights of the RMS norms of queries and keys, float32 of shape [2, D]. They are normalized
        before they are rotated.
    eps : float
        Added to the mean of squares.

    Returns
    -------
    Array
        Queries, float32 of shape [T, H, D].
    """
    op = "split_heads"
    own, factors, small = _joined(op, x, heads, keys, values, angles, position, slots, norms, eps)
    turned = checks.flag(op, "adjacent", adjacent)
    split = partial(attention.split_heads, adjacent=turned, eps=small)
    return _with_cache(op, split, own, heads, factors, angles, position, slots, keys, values)


@refusing_gradients("nn.scaled_dot_product_attention")
@constant
def extend_and_attend(
    x: Array, heads: int, keys: Array, values: Array, angles: Array, position: Array, slots: Array,
    scale: float, softcap: float = 0.0, window: int = 0, adjacent: bool = False,
    norms: Array | None = None, eps: float = 0.0,
) -> Array:  # fmt: skip
    """Return :func:`cached_attention` of the queries that :func:`split_heads` returns.

    It is one kernel for one token of each sequence, if x has values, heads are at most 256 wide,
    and the cache is float32.

    Parameters
    ----------
    x, heads, keys, values, angles, position, slots, adjacent, norms, eps
        As :func:`split_heads` takes them.
    scale, softcap, window
        As :func:`cached_attention` takes them.

    Returns
    -------
    Array
        Shape [T, H, D], float32.
    """
    op = "extend_and_attend"
    own, factors, small = _joined(op, x, heads, keys, values, angles, position, slots, norms, eps)
    turned = checks.flag(op, "adjacent", adjacent)
    is_one = attention.takes_token(
        inputs.memory(own), heads, inputs.memory(keys), inputs.memory(position)
    )
    if not is_one or heads % keys.shape[1]:
        split = partial(attention.split_heads, adjacent=turned, eps=small)
        q = _with_cache(op, split, own, heads, factors, angles, position, slots, keys, values)
        return cached_attention(q, keys, values, position, slots, scale, softcap, window)
    factor, cap = checks.real(op, "scale", scale), checks.real(op, "softcap", softcap)
    most = checks.integer(op, "window", window)
    attend = partial(
        attention.attend_token, adjacent=turned, eps=small, scale=factor, softcap=cap, window=most
    )
    return _with_cache(op, attend, own, heads, factors, angles, position, slots, keys, values)


def _with_cache(
    op: str, compute: Callable[..., None], own: Array, heads: int, norms: Array | None,
    angles: Array, position: Array, slots: Array, keys: Array, values: Array,
) -> Array:  # fmt: skip
    """Return what a kernel computes for the queries of checked operands, as it writes the cache."""
    tokens, _, width = own.shape
    made = inputs.room(op, own, FLOAT32, (tokens, heads, width))
    if not tokens:
        return made
    targets = writable(keys, [keys, values]), writable(values, [keys, values])
    views = (inputs.memory(one) for one in (angles, position, slots, *targets, made))
    compute(own.device, op, inputs.memory(own), inputs.memory_of(norms), *views)
    for cache, target in zip((keys, values), targets, strict=True):
        become(cache, target)
    return made


def _joined(
    op: str, x: Array, heads: int, keys: Array, values: Array, angles: Array, position: Array,
    slots: Array, norms: Array | None, eps: float,
) -> tuple[Array, Array | None, float]:  # fmt: skip
    """Return x, norms and eps as kernels take them. Raises for wrong operands."""
    own = _heads(op, x)
    joined, width = own.shape[1:]
    queries = checks.integer(op, "heads", heads, 1)
    _check_angles(op, own, angles, position)
    _check_slots(op, slots, position)
    groups = keys.shape[1] if isinstance(keys, Array) and keys.ndim == 4 else 0
    _check_cache(op, "keys", keys, groups, width)
    _check_cache(op, "values", values, groups, width)
    if joined not in (queries + groups, queries + 2 * groups):
        expected = f"have {queries} heads, and {groups} or {2 * groups} for the cache"
        raise InvalidArgument(op, "x", own, expected)
    if values.shape != keys.shape or values.dtype != keys.dtype:
        raise InvalidArgument(op, "values", values, f"have shape {keys.shape}, as keys")
    if width % 4 or not 0 < width <= WIDEST:
        raise InvalidArgument(op, "x", own, f"have heads of a multiple of 4 up to {WIDEST}")
    factors = None
    if norms is not None:
        factors = inputs.shaped(op, "norms", inputs.floats(op, "norms", norms), (2, width))
        factors = apply.packed(apply.cast_to(op, factors, FLOAT32, copy=False))
    if not keys.size:
        raise InvalidArgument(op, "keys", keys, "have at least 1 position")
    return own, factors, checks.nonnegative(op, "eps", eps)


@refusing_gradients("nn.scaled_dot_product_attention")
@constant
def cached_attention(
    query: Array, keys: Array, values: Array, position: Array, slots: Array, scale: float,
    softcap: float = 0.0, window: int = 0,
) -> Array:  # fmt: skip
    """Return the causal attention of queries to a cache.

    Query t of a sequence attends to the keys of the sequence up to ``position + t``.

    Parameters
    ----------
    query : Array
        Shape [T, H, D], float32. D is a multiple of 4, at most 512. T / S queries of each of S
        sequences, which follow each other.
    keys, values : Array
        The cache, as :func:`store` writes it: float32 of shape [N, G, C, D], or in 8 bits. G
        divides H.
    position : Array
        The position of the first query of each sequence, int32 of shape [S].
    slots : Array
        The sequences' places in the cache's first axis, int32 of shape [S].
    scale : float
        Factor of the scores.
    softcap : float
        If not 0, scores s become softcap tanh(s / softcap).
    window : int
        If not 0, how many keys a query attends to: the last ones up to its own.

    Returns
    -------
    Array
        Shape [T, H, D], float32.
    """
    op = "cached_attention"
    own = _heads(op, query)
    tokens, heads, width = own.shape
    if width % 4 or not 0 < width <= WIDEST:
        raise InvalidArgument(op, "query", own, f"have heads of a multiple of 4 up to {WIDEST}")
    _check_cache(op, "keys", keys, heads, width, grouped=True)
    if values.shape != keys.shape or values.dtype != keys.dtype:
        raise InvalidArgument(op, "values", values, f"have shape {keys.shape}, as keys")
    if not fits(tokens, heads):
        raise InvalidArgument(op, "query", own, "have at most 65,535 tokens")
    _check_sequences(op, own, position)
    _check_slots(op, slots, position)
    factor, cap = checks.real(op, "scale", scale), checks.real(op, "softcap", softcap)
    most = checks.integer(op, "window", window)
    made = inputs.room(op, own, FLOAT32, own.shape)
    if made.size:
        views = (inputs.memory(one) for one in (own, keys, values, position, slots, made))
        attention.attend(own.device, op, *views, scale=factor, softcap=cap, window=most)
    return made


def _heads(op: str, x: Any) -> Array:
    """Return packed float32 of shape [T, H, D]."""
    found = inputs.floats(op, "x", x)
    if found.ndim != 3:
        raise InvalidArgument(op, "x", found, "have shape [T, H, D]")
    return apply.packed(apply.cast_to(op, found, FLOAT32, copy=False))


def _check_sequences(op: str, x: Array, position: Array) -> None:
    if not isinstance(position, Array) or position.dtype != "int32" or position.ndim != 1:
        raise InvalidType(op, "position", position, "an int32 array of shape [S]")
    if not position.size or x.shape[0] % position.size:
        raise InvalidArgument(op, "position", position, f"have a divisor of {x.shape[0]} elements")


def _check_slots(op: str, slots: Array, position: Array) -> None:
    if not isinstance(slots, Array) or slots.dtype != "int32" or slots.shape != position.shape:
        raise InvalidType(op, "slots", slots, f"an int32 array of shape {position.shape}")


def _check_angles(op: str, x: Array, angles: Array, position: Array) -> None:
    _check_sequences(op, x, position)
    if angles.ndim != 3 or angles.shape[2] != 2 or 2 * angles.shape[1] > x.shape[2]:
        raise InvalidArgument(op, "angles", angles, f"have shape [P, at most {x.shape[2] // 2}, 2]")


def _check_cache(
    op: str, name: str, cache: Array, heads: int, width: int, *, grouped: bool = False
) -> None:
    """Raise InvalidArgument unless a cache has rows of this width for the heads."""
    is_int8 = cache.dtype == "uint32"
    last = row_words(width) if is_int8 else width
    fits_heads = cache.ndim == 4 and cache.shape[1] and not heads % cache.shape[1]
    if not fits_heads or cache.shape[3] != last or (cache.shape[1] != heads and not grouped):
        own = f"a divisor of {heads}" if grouped else heads
        raise InvalidArgument(op, name, cache, f"have shape [N, {own}, C, {last}]")
    if not is_int8 and cache.dtype != "float32":
        raise InvalidType(op, name, cache, "float32, or uint32 with 8 bits a number")
    if is_int8 and width % 4:
        raise InvalidArgument(op, name, cache, "float32 for heads that are no multiple of 4")
