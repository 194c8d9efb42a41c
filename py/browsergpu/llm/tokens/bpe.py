"""Byte-pair encoding: neighbors merge in the order of their ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush

from browsergpu.engine.core.showing import Shown

_MOST_WORDS = 1 << 16


def merged(symbols: list[str], rank: Callable[[str, str], float | None]) -> list[str]:
    """Merge neighbors, the smallest rank first and from the left, until none has a rank."""
    count = len(symbols)
    before, after = list(range(-1, count - 1)), [*range(1, count), -1]
    heap = []
    for at in range(count - 1):
        own = rank(symbols[at], symbols[at + 1])
        if own is not None:
            heap.append((own, at, symbols[at], symbols[at + 1]))
    heapify(heap)
    while heap:
        _, at, left, right = heappop(heap)
        other = after[at]
        if other < 0 or symbols[at] != left or symbols[other] != right:
            continue  # one of them has merged since
        symbols[at] = left + right
        symbols[other] = ""
        after[at] = after[other]
        if after[at] >= 0:
            before[after[at]] = at
        for first, second in ((before[at], at), (at, after[at])):
            if first >= 0 and second >= 0:
                own = rank(symbols[first], symbols[second])
                if own is not None:
                    heappush(heap, (own, first, symbols[first], symbols[second]))
    return [one for one in symbols if one]


class BPE(Shown):
    """Byte-pair encoding of words.

    Parameters
    ----------
    vocabulary : mapping
        Ids of the tokens.
    merges : mapping
        Ranks of the pairs.
    unknown : int, optional
        The id of symbols that are no tokens. Without it, they are left out.
    whole_words : bool
        Whether a word that is a token is not split (``ignore_merges``).
    byte_fallback : bool
        Whether symbols that are no tokens become tokens of bytes, ``<0x41>``.
    fuse_unknown : bool
        Whether neighboring unknown symbols become one token.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], merges: Mapping[tuple[str, str], int],
        unknown: int | None = None, *, whole_words: bool = False, byte_fallback: bool = False,
        fuse_unknown: bool = False,
    ) -> None:  # fmt: skip
        self._vocabulary, self._merges = vocabulary, merges
        self._unknown, self._whole_words = unknown, whole_words
        self._byte_fallback, self._fuse = byte_fallback, fuse_unknown
        self._known: dict[str, list[int]] = {}

    def _rank(self, left: str, right: str) -> float | None:
        return self._merges.get((left, right))

    def ids(self, word: str) -> list[int]:
        """Return the tokens of a word."""
        found = self._known.get(word)
        if found is None:
            found = self._ids(word)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            if len(word) < 256:
                self._known[word] = found
        return found

    def _ids(self, word: str) -> list[int]:
        if self._whole_words and word in self._vocabulary:
            return [self._vocabulary[word]]
        found: list[int] = []
        for symbol in merged(list(word), self._rank):
            own = self._vocabulary.get(symbol)
            if own is not None:
                found.append(own)
                continue
            raw = symbol.encode("utf-8", "surrogatepass")
            as_bytes = [self._vocabulary.get(f"<0x{byte:02X}>") for byte in raw]
            if self._byte_fallback and None not in as_bytes:
                found += [one for one in as_bytes if one is not None]
            elif self._unknown is not None and not (
                self._fuse and found and found[-1] == self._unknown
            ):
                found.append(self._unknown)
        return found


class ScoredBPE(BPE):
    """SentencePiece's byte-pair encoding: pairs rank by the score of the token they form.

    Parameters
    ----------
    vocabulary : mapping
        Ids of the tokens.
    scores : mapping
        Scores of the tokens that can be formed.
    unknown : int
        The id of symbols without tokens, if the vocabulary has no bytes.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], scores: Mapping[str, float], unknown: int
    ) -> None:
        super().__init__(vocabulary, {}, unknown, byte_fallback=True)
        self._scores = scores

    def _rank(self, left: str, right: str) -> float | None:
        score = self._scores.get(left + right)
        return None if score is None else -score
