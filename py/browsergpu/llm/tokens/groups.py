"""Sequences of similar lengths, which are computed together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def groups(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the numbers of the sequences of each group, which are padded to the longest.

    A group has at most ``most`` tokens, or one sequence, and each sequence has at least half of the
    longest one's length.
    """
    found: list[list[int]] = []
    for one in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        longest = lengths[found[-1][0]] if found else 0
        if found and 2 * lengths[one] >= longest and (len(found[-1]) + 1) * longest <= most:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def padded(sequences: Sequence[Sequence[int]], length: int) -> np.ndarray:
    """Return tokens as int32 of shape [sequences, length]. Missing ones are 0."""
    found = np.zeros((len(sequences), length), np.int32)
    for row, tokens in zip(found, sequences, strict=True):
        row[: len(tokens)] = tokens
    return found


def padded_length(length: int) -> int:
    """Return a length rounded up to 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, … tokens."""
    power = 1 << (length - 1).bit_length()
    return power * 3 // 4 if power > 16 and length <= power * 3 // 4 else power
