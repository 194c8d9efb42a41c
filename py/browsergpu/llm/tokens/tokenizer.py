"""Tokenizers: normalization, words, the model, and special tokens around them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown

_OP = "Tokenizer"


class Model(Protocol):
    """A model that splits words into tokens."""

    def ids(self, word: str) -> list[int]:
        """Return the tokens of a word."""


class Added(Shown):
    """A token that is matched in texts as it is, before anything else.

    Parameters
    ----------
    text : str
        The token.
    special : bool
        Whether ``decode`` leaves it out.
    left, right : bool
        Whether it takes the white space on that side.
    single : bool
        Whether it only matches a whole word.
    normalized : bool
        Whether it is matched in the normalized text.
    """

    def __init__(
        self, text: str, *, special: bool, left: bool = False, right: bool = False,
        single: bool = False, normalized: bool = False,
    ) -> None:  # fmt: skip
        self.text, self.special = text, special
        self.left, self.right, self.single, self.normalized = left, right, single, normalized


class Tokenizer(Shown):
    """Texts to tokens and back.

    ``llm.tokenizer`` is that of a model, and :func:`load_tokenizer` reads a tokenizer.json.

    Parameters
    ----------
    tokens : sequence of str
        The tokens by id. Gaps are empty.
    model : Model
        Splits words.
    normalize : callable
        Maps a text to the normalized text.
    words : callable
        Maps a text and whether it is at the start to words.
    added : mapping
        Tokens that are matched first, by id.
    before, after : sequence of int
        Special tokens around each text.
    to_bytes : callable
        Maps a token to its bytes.
    finish : callable
        Maps the joined text to what ``decode`` returns.
    """

    def __init__(
        self, tokens: Sequence[str], model: Model, *, normalize: Callable[[str], str],
        words: Callable[[str, bool], list[str]], added: Mapping[int, Added],
        before: Sequence[int] = (), after: Sequence[int] = (),
        to_bytes: Callable[[str], bytes], finish: Callable[[str], str] = lambda text: text,
    ) -> None:  # fmt: skip
        #: The tokens by id.
        self.tokens = tuple(tokens)
        self._model, self._normalize, self._words = model, normalize, words
        self._added, self._before, self._after = added, tuple(before), tuple(after)
        self._to_bytes, self._finish = to_bytes, finish
        self._ids = {one.text: id for id, one in added.items()}
        self._raw = _splitter([one for one in added.values() if not one.normalized])
        self._normalized = _splitter([one for one in added.values() if one.normalized])
        self._special = {id for id, one in added.items() if one.special}

    def _facts(self) -> str:
        return f"of {len(self.tokens)} tokens"

    def __len__(self) -> int:
        return len(self.tokens)

    def id_of(self, token: str) -> int | None:
        """Return the id of an added token, or None."""
        return self._ids.get(token)

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text.

        Special tokens in the text become their ids.

        Parameters
        ----------
        text : str
            The text.
        add_special_tokens : bool
            Whether to add the model's tokens of beginning and end.
        """
        if not isinstance(text, str):
            raise InvalidType("encode", "text", text, "a string")
        found: list[int] = list(self._before) if add_special_tokens else []
        at_start = True
        for part, id in _split(self._raw, self._ids, self._added, text):
            if id is not None:
                found.append(id)
            else:
                found += self._of_part(part, at_start)
            at_start = False
        return found + (list(self._after) if add_special_tokens else [])

    def _of_part(self, text: str, at_start: bool) -> list[int]:
        found: list[int] = []
        own = self._normalize(text)
        for part, id in _split(self._normalized, self._ids, self._added, own):
            if id is not None:
                found.append(id)
            else:
                for word in self._words(part, at_start):
                    found += self._model.ids(word)
            at_start = False
        return found

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Return the text of tokens.

        Bytes that are not UTF-8 become the replacement character.
        """
        data = b"".join([self.token_bytes(int(id), skip_special_tokens) for id in ids])
        return self._finish(data.decode("utf-8", "replace"))

    def token_bytes(self, id: int, skip_special_tokens: bool = True) -> bytes:
        """Return the bytes of a token, which may be a part of a character."""
        if not 0 <= id < len(self.tokens):
            raise InvalidArgument("decode", "ids", id, f"tokens from 0 to {len(self.tokens) - 1}")
        if id in self._added:
            hidden = skip_special_tokens and id in self._special
            return b"" if hidden else self._added[id].text.encode("utf-8", "surrogateescape")
        return self._to_bytes(self.tokens[id])

    def stream(self) -> TextStream:
        """Return a decoder of one token after the other."""
        return TextStream(self)


class TextStream(Shown):
    """The text of tokens as they come. Characters are given when all their bytes are there."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, id: int) -> str:
        """Return the text that a token completes.

        Models may have more rows than tokens. These have no text.
        """
        if id >= len(self._tokenizer.tokens):
            return ""
        return self._decoder.decode(self._tokenizer.token_bytes(id))

    def end(self) -> str:
        """Return the rest."""
        return self._decoder.decode(b"", final=True)


def _splitter(added: Sequence[Added]) -> re.Pattern[str] | None:
    """Return a pattern of added tokens, the longest first."""
    texts = sorted({one.text for one in added if one.text}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, texts))) if texts else None


def _split(
    pattern: re.Pattern[str] | None, ids: Mapping[str, int], added: Mapping[int, Added], text: str
) -> list[tuple[str, int | None]]:
    """Split a text at added tokens, into parts and their ids. Parts of the text have None."""
    if not text:
        return []
    if pattern is None:
        return [(text, None)]
    found: list[tuple[str, int | None]] = []
    at = 0
    for match in pattern.finditer(text):
        id = ids[match[0]]
        one, begin, end = added[id], match.start(), match.end()
        if begin < at or (one.single and not _is_word(text, begin, end)):
            continue
        if one.left:
            begin = at + len(text[at:begin].rstrip())
        if one.right:
            end += len(text[end:]) - len(text[end:].lstrip())
        if begin > at:
            found.append((text[at:begin], None))
        found.append((match[0], id))
        at = end
    if at < len(text):
        found.append((text[at:], None))
    return found


def _is_word(text: str, begin: int, end: int) -> bool:
    """Whether no letter, digit or _ is beside a part of a text."""
    before, after = text[begin - 1 : begin], text[end : end + 1]
    return not any(one.isalnum() or one == "_" for one in (before, after) if one)
