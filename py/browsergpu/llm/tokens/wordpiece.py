"""WordPiece: the longest tokens from the start of each word, as BERT has them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

from browsergpu.engine.core.showing import Shown


class WordPiece(Shown):
    """WordPiece of words.

    Parameters
    ----------
    vocabulary : mapping
        Ids of the tokens. Those inside words begin with the prefix.
    unknown : int
        The id of words that cannot be split.
    prefix : str
        Of tokens inside words.
    longest : int
        The most characters of a word.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], unknown: int, prefix: str = "##", longest: int = 100
    ) -> None:
        self._vocabulary, self._unknown = vocabulary, unknown
        self._prefix, self._longest = prefix, longest

    def ids(self, word: str) -> list[int]:
        """Return the tokens of a word."""
        if len(word) > self._longest:
            return [self._unknown]
        found: list[int] = []
        begin = 0
        while begin < len(word):
            end = len(word)
            before = self._prefix if begin else ""
            while end > begin and before + word[begin:end] not in self._vocabulary:
                end -= 1
            if end == begin:
                return [self._unknown]
            found.append(self._vocabulary[before + word[begin:end]])
            begin = end
        return found

    @staticmethod
    def token_bytes(token: str) -> bytes:
        """Return the bytes of a token, with a space before those that begin words."""
        own = token[2:] if token.startswith("##") else f" {token}"
        return own.encode("utf-8", "surrogateescape")


def bert_normalizer(
    *, clean: bool = True, chinese: bool = True, accents: bool | None = None, lowercase: bool = True
) -> Callable[[str], str]:
    """Return BERT's normalization.

    Parameters
    ----------
    clean : bool
        Whether control characters are removed, and white space becomes spaces.
    chinese : bool
        Whether ideographs become words.
    accents : bool, optional
        Whether accents are removed. By default, if letters become lowercase.
    lowercase : bool
        Whether letters become lowercase.
    """

    def normalize(text: str) -> str:
        if clean:
            text = "".join([" " if _is_space(one) else one for one in text if not _is_control(one)])
        if chinese:
            text = "".join([f" {one} " if _is_ideograph(ord(one)) else one for one in text])
        if lowercase if accents is None else accents:
            text = without_accents(unicodedata.normalize("NFD", text))
        return lowered(text) if lowercase else text

    return normalize


def lowered(text: str) -> str:
    """Return lowercase letters, each by itself, so that a final sigma is none."""
    return "".join([one.lower() for one in text])


def without_accents(text: str) -> str:
    """Remove combining marks."""
    return "".join([one for one in text if unicodedata.category(one) != "Mn"])


def bert_words(text: str, _: bool = False) -> list[str]:
    """Split at white space, and make each punctuation character a word."""
    found: list[str] = []
    word = ""
    for one in text:
        if _is_space(one) or is_punctuation(one):
            if word:
                found.append(word)
            word = ""
            if not _is_space(one):
                found.append(one)
        else:
            word += one
    return [*found, word] if word else found


def is_punctuation(one: str) -> bool:
    """Whether a character is punctuation, or a symbol of ASCII."""
    code = ord(one)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(one).startswith("P")


_SPACES = frozenset("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}


def _is_space(one: str) -> bool:
    return one in _SPACES


def _is_control(one: str) -> bool:
    if one in "\t\n\r":
        return False
    return one in "\0\ufffd" or unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs")


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in _IDEOGRAPHS)
