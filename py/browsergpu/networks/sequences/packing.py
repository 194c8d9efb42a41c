"""Padded and packed sequences, as ``torch.nn.utils.rnn``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence(NamedTuple):
    """Sequences of different lengths without padding, ordered by step.

    :func:`pack_padded_sequence` and :func:`pack_sequence` make it, and recurrent layers accept it.
    """

    #: [total length, ...], the elements of all sequences at step 0, then at step 1, and so on.
    data: Array
    #: Number of sequences that have each step, on the host.
    batch_sizes: np.ndarray
    #: Order of the sequences by length, or None if they were given in this order.
    sorted_indices: np.ndarray | None = None
    #: The order that restores the sequences' positions.
    unsorted_indices: np.ndarray | None = None


def invert_permutation(permutation: Any) -> np.ndarray | None:
    """Return the order that restores positions after a permutation. None stays None.

    Parameters
    ----------
    permutation : array_like or None
        The numbers from 0 to n - 1 in any order. An array on the GPU is waited for.

    Returns
    -------
    numpy.ndarray or None
        The inverse permutation.
    """
    return None if permutation is None else np.argsort(_on_host(permutation))


def _on_host(x: Any) -> np.ndarray:
    return np.asarray(x.detach().numpy() if isinstance(x, Array) else x)


def _lengths(op: str, lengths: Any, batches: int, longest: int) -> np.ndarray:
    found = _on_host(lengths)
    if found.ndim != 1 or found.size != batches or found.dtype.kind not in "iu":
        expected = f"{batches} integers, one for each sequence"
        raise InvalidArgument(op, "lengths", lengths, expected)
    if not batches or found.min() < 1 or found.max() > longest:
        raise InvalidArgument(op, "lengths", lengths, f"numbers from 1 to {longest}")
    return found.astype(np.int64)


def pack_padded_sequence(
    input: Array, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences.

    Parameters
    ----------
    input : Array
        [length, N, ...], or [N, length, ...] with ``batch_first``.
    lengths : sequence of int
        Length of each sequence. An array on the GPU is waited for.
    batch_first : bool, optional
        Whether the first axis is N.
    enforce_sorted : bool, optional
        Whether lengths must not increase. False sorts the sequences.

    Returns
    -------
    PackedSequence
        The elements without padding.

    Raises
    ------
    InvalidArgument
        If the lengths do not fit, or are not sorted.
    """
    op = "pack_padded_sequence"
    if not isinstance(input, Array) or input.ndim < 2:
        raise InvalidType(op, "input", input, "an array of shape [length, N, ...]")
    is_first = checks.flag(op, "batch_first", batch_first)
    x = manipulation.moveaxis(input, 0, 1) if is_first else input
    longest, batches = x.shape[:2]
    given = _lengths(op, lengths, batches, longest)
    order: np.ndarray | None = None
    if checks.flag(op, "enforce_sorted", enforce_sorted):
        if (np.diff(given) > 0).any():
            expected = "numbers that do not increase (enforce_sorted=False sorts them)"
            raise InvalidArgument(op, "lengths", lengths, expected)
        columns = np.arange(batches)
    else:
        columns = order = np.argsort(-given, kind="stable")
        given = given[order]
    steps = np.arange(int(given[0]))
    has_step = steps[:, None] < given  # [length, N]
    places = (steps[:, None] * batches + columns)[has_step]
    flat = manipulation.reshape(x, (longest * batches, *x.shape[2:]))
    data = manipulation.take(flat, places, axis=0)
    return PackedSequence(data, has_step.sum(1), order, invert_permutation(order))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Array, np.ndarray]:  # fmt: skip
    """Pad packed sequences, the inverse of :func:`pack_padded_sequence`.

    Parameters
    ----------
    sequence : PackedSequence
        The packed sequences.
    batch_first : bool, optional
        Whether the first axis of the result is N.
    padding_value : float, optional
        Value of the padding.
    total_length : int, optional
        Length of the result, by default that of the longest sequence.

    Returns
    -------
    tuple
        The array [length, N, ...], and the lengths on the host.

    Raises
    ------
    InvalidArgument
        If ``total_length`` is less than the longest length.
    """
    op = "pad_packed_sequence"
    if not isinstance(sequence, PackedSequence):
        raise InvalidType(op, "sequence", sequence, "a PackedSequence")
    sizes = np.asarray(sequence.batch_sizes)
    longest, batches = len(sizes), int(sizes[0])
    total = longest
    if total_length is not None:
        total = checks.integer(op, "total_length", total_length, longest)
    filler = checks.real(op, "padding_value", padding_value)
    has_step = np.zeros((total, batches), bool)
    has_step[:longest] = np.arange(batches) < sizes[:, None]
    places = np.zeros((total, batches), np.int64)
    places[has_step] = np.arange(int(sizes.sum()))
    lengths = has_step.sum(0)
    if sequence.unsorted_indices is not None:
        back = np.asarray(sequence.unsorted_indices)
        has_step, places, lengths = has_step[:, back], places[:, back], lengths[back]
    if checks.flag(op, "batch_first", batch_first):
        has_step, places = has_step.T, places.T
    data = sequence.data
    taken = manipulation.take(data, np.asarray(places, order="C").reshape(-1), axis=0)
    found = manipulation.reshape(taken, (*places.shape, *data.shape[1:]))
    if has_step.all():
        return found, lengths
    shape = (*places.shape, *(1,) * (data.ndim - 1))
    inside = creation.asarray(np.asarray(has_step, order="C").reshape(shape), device=data.device)
    return elementwise.where(inside, found, filler).astype(data.dtype, copy=False), lengths


def pad_sequence(
    sequences: Sequence[Array], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Array:  # fmt: skip
    """Stack sequences of different lengths, padded to the length of the longest.

    Parameters
    ----------
    sequences : sequence of Array
        Arrays of shape [length, ...] that differ only in their lengths.
    batch_first : bool, optional
        Whether the first axis of the result is N.
    padding_value : float, optional
        Value of the padding.
    padding_side : {"right", "left"}, optional
        Whether the padding is after or before the elements.

    Returns
    -------
    Array
        [length, N, ...], or [N, length, ...] with ``batch_first``.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or there are no sequences.
    """
    op = "pad_sequence"
    if padding_side not in ("right", "left"):
        raise InvalidArgument(op, "padding_side", padding_side, "'right' or 'left'")
    given = [*sequences]
    if not given or not all(isinstance(one, Array) and one.ndim for one in given):
        raise InvalidType(op, "sequences", sequences, "a list of arrays with axes")
    if any(one.shape[1:] != given[0].shape[1:] for one in given):
        raise InvalidArgument(op, "sequences", sequences, "equal in all axes but the first")
    longest = max(one.shape[0] for one in given)
    filler = checks.real(op, "padding_value", padding_value)
    padded = []
    for one in given:
        missing = longest - one.shape[0]
        if missing:
            shape = (missing, *one.shape[1:])
            more = creation.full(shape, filler, dtype=one.dtype, device=one.device)
            one = manipulation.concat([one, more] if padding_side == "right" else [more, one])
        padded.append(one)
    axis = 0 if checks.flag(op, "batch_first", batch_first) else 1
    return manipulation.stack(padded, axis=axis)


def pack_sequence(sequences: Sequence[Array], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Parameters
    ----------
    sequences : sequence of Array
        Arrays of shape [length, ...] that differ only in their lengths.
    enforce_sorted : bool, optional
        Whether lengths must not increase. False sorts the sequences.

    Returns
    -------
    PackedSequence
        The elements of all sequences.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or the lengths are not sorted.
    """
    padded = pad_sequence(sequences)
    lengths = [one.shape[0] for one in sequences]
    return pack_padded_sequence(padded, lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences: Array, lengths: Any, batch_first: bool = False) -> list[Array]:
    """Return the sequences of a padded array, the inverse of :func:`pad_sequence`.

    Parameters
    ----------
    padded_sequences : Array
        [length, N, ...], or [N, length, ...] with ``batch_first``.
    lengths : sequence of int
        Length of each sequence. An array on the GPU is waited for.
    batch_first : bool, optional
        Whether the first axis is N.

    Returns
    -------
    list of Array
        Arrays of shape [length, ...].

    Raises
    ------
    InvalidArgument
        If the lengths do not fit.
    """
    op = "unpad_sequence"
    x = padded_sequences
    if not isinstance(x, Array) or x.ndim < 2:
        raise InvalidType(op, "padded_sequences", x, "an array of shape [length, N, ...]")
    if not checks.flag(op, "batch_first", batch_first):
        x = manipulation.moveaxis(x, 0, 1)
    given = _lengths(op, lengths, x.shape[0], x.shape[1])
    return [x[n, : int(length)] for n, length in enumerate(given)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Array]:
    """Return the sequences of a PackedSequence, the inverse of :func:`pack_sequence`.

    Parameters
    ----------
    packed_sequences : PackedSequence
        The packed sequences.

    Returns
    -------
    list of Array
        Arrays of shape [length, ...].
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
