"""Unigram: the tokens of a word with the largest sum of scores, as SentencePiece has them."""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.engine.core.showing import Shown

#: How much less an unknown character scores than the lowest token, as in SentencePiece.
_PENALTY = 10.0


class Unigram(Shown):
    """The most probable tokens of words.

    Parameters
    ----------
    vocabulary : mapping
        Ids of the tokens.
    scores : mapping
        Their log probabilities.
    unknown : int, optional
        The id of characters without tokens.
    byte_fallback : bool
        Whether these become tokens of bytes, ``<0x41>``.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], scores: Mapping[str, float], unknown: int | None,
        *, byte_fallback: bool = False,
    ) -> None:  # fmt: skip
        self._vocabulary, self._scores = vocabulary, scores
        self._unknown, self._byte_fallback = unknown, byte_fallback
        self._longest = max(map(len, scores), default=1)
        self._lowest = min(scores.values(), default=0.0) - _PENALTY

    def ids(self, word: str) -> list[int]:
        """Return the tokens of a word."""
        best: list[tuple[float, int]] = [(0.0, 0)]  # sum of scores, and begin of the last token
        for end in range(1, len(word) + 1):
            found: tuple[float, int] | None = None
            for begin in range(max(0, end - self._longest), end):
                score = self._scores.get(word[begin:end])
                if score is None:
                    if begin < end - 1:
                        continue
                    score = self._lowest
                total = best[begin][0] + score
                if found is None or total > found[0]:
                    found = total, begin
            assert found is not None
            best.append(found)
        parts = []
        end = len(word)
        while end:
            begin = best[end][1]
            parts.append(word[begin:end])
            end = begin
        return self._numbers(parts[::-1])

    def _numbers(self, parts: list[str]) -> list[int]:
        found: list[int] = []
        was_unknown = False
        for part in parts:
            if part in self._scores:
                found.append(self._vocabulary[part])
                was_unknown = False
                continue
            raw = part.encode("utf-8", "surrogatepass")
            as_bytes = [self._vocabulary.get(f"<0x{byte:02X}>") for byte in raw]
            if self._byte_fallback and None not in as_bytes:
                found += [one for one in as_bytes if one is not None]
            elif self._unknown is not None and not was_unknown:
                found.append(self._unknown)  # neighbors become one
                was_unknown = True
        return found
