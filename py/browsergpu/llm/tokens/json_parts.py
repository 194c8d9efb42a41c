"""Normalizers and splitters of words, from their descriptions in tokenizer.json."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any

from browsergpu.engine.core.errors import Unsupported
from browsergpu.llm.tokens import byte_level, patterns
from browsergpu.llm.tokens.wordpiece import (
    bert_normalizer,
    bert_words,
    is_punctuation,
    without_accents,
)

Normalize = Callable[[str], str]
#: Maps a text, and whether it is at the start, to words.
Words = Callable[[str, bool], list[str]]

_BYTE_LEVEL = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def normalizer(own: dict[str, Any] | None) -> Normalize:
    """Return a normalizer. Raises Unsupported for an unknown kind."""
    if own is None:
        return str
    kind = own["type"]
    if kind == "Sequence":
        parts = [normalizer(one) for one in own["normalizers"]]
        return partial(_chained, parts)
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return partial(unicodedata.normalize, kind)
    if kind == "Replace":
        return _replacer(own["pattern"], own["content"])
    if kind == "Prepend":
        return lambda text: own["prepend"] + text if text else text
    if kind == "Strip":
        left, right = own["strip_left"], own["strip_right"]
        return lambda text: _stripped(text, left, right)
    if kind == "BertNormalizer":
        return bert_normalizer(
            clean=own["clean_text"], chinese=own["handle_chinese_chars"],
            accents=own["strip_accents"], lowercase=own["lowercase"],
        )  # fmt: skip
    simple: dict[str, Normalize] = {"Lowercase": str.lower, "StripAccents": without_accents}
    if kind in simple:
        return simple[kind]
    raise _unsupported("normalizer", kind)


def _chained(parts: list[Normalize], text: str) -> str:
    for part in parts:
        text = part(text)
    return text


def _stripped(text: str, left: bool, right: bool) -> str:
    text = text.lstrip() if left else text
    return text.rstrip() if right else text


def _replacer(pattern: dict[str, str], content: str) -> Normalize:
    found = _pattern(pattern)
    return lambda text: found.sub(lambda _: content, text)


def _pattern(own: dict[str, str]) -> re.Pattern[str]:
    if "String" in own:
        return re.compile(re.escape(own["String"]))
    return patterns.compiled(own["Regex"])


def words_of(own: dict[str, Any] | None) -> Words:
    """Return the splitter of a pre_tokenizer. Raises Unsupported for an unknown kind."""
    if own is None:
        return lambda text, _: [text] if text else []
    kind = own["type"]
    if kind == "Sequence":
        parts = [words_of(one) for one in own["pretokenizers"]]
        return partial(_in_turn, parts)
    if kind == "ByteLevel":
        return _of_bytes(own)
    if kind == "Digits":
        pattern = patterns.compiled(r"\p{N}" if own["individual_digits"] else r"\p{N}+")
        return lambda text, _: patterns.pieces(pattern, text)
    if kind == "Split":
        return _of_pattern(own)
    if kind == "Metaspace":
        return _of_marks(own)
    if kind == "Whitespace":
        pattern = patterns.compiled(r"\w+|[^\w\s]+")
        return lambda text, _: pattern.findall(text)
    if kind == "WhitespaceSplit":
        pattern = patterns.compiled(r"\S+")
        return lambda text, _: pattern.findall(text)
    if kind == "BertPreTokenizer":
        return bert_words
    if kind == "Punctuation" and own.get("behavior", "Isolated").lower() == "isolated":
        return _of_punctuation
    raise _unsupported("pre_tokenizer", kind)


def _in_turn(parts: list[Words], text: str, at_start: bool) -> list[str]:
    words = [text] if text else []
    for part in parts:
        found: list[str] = []
        for n, word in enumerate(words):
            found += part(word, at_start and n == 0)
        words = found
    return words


def _of_bytes(own: dict[str, Any]) -> Words:
    pattern = patterns.compiled(_BYTE_LEVEL)
    is_split = own.get("use_regex", True)
    is_prefixed = own["add_prefix_space"]

    def words(text: str, _: bool) -> list[str]:
        if is_prefixed and not text.startswith(" "):
            text = f" {text}"
        parts = patterns.pieces(pattern, text) if is_split else [text]
        return [byte_level.to_characters(part) for part in parts]

    return words


def _of_pattern(own: dict[str, Any]) -> Words:
    pattern, behavior = _pattern(own["pattern"]), own["behavior"].lower()
    if own.get("invert"):
        if behavior not in ("removed", "isolated"):
            raise _unsupported("Split behavior", own["behavior"])
        if behavior == "removed":
            return lambda text, _: [one[0] for one in pattern.finditer(text) if one[0]]
    if behavior == "isolated":
        return lambda text, _: patterns.pieces(pattern, text)
    if behavior == "removed":
        return lambda text, _: [part for part in pattern.split(text) if part]
    if behavior == "mergedwithprevious":
        return partial(_merged, pattern)
    raise _unsupported("Split behavior", own["behavior"])


def _merged(pattern: re.Pattern[str], text: str, _: bool) -> list[str]:
    """Split after each match."""
    found, at = [], 0
    for match in pattern.finditer(text):
        found.append(text[at : match.end()])
        at = match.end()
    return [*found, text[at:]] if at < len(text) else found


def _of_marks(own: dict[str, Any]) -> Words:
    mark = own["replacement"]
    scheme = own.get("prepend_scheme", "always" if own.get("add_prefix_space", True) else "never")
    is_split = own.get("split", True)

    def words(text: str, at_start: bool) -> list[str]:
        text = text.replace(" ", mark)
        if (scheme == "always" or (scheme == "first" and at_start)) and not text.startswith(mark):
            text = mark + text
        if not is_split:
            return [text] if text else []
        parts = re.split(f"(?={re.escape(mark)})", text)
        return [part for part in parts if part]

    return words


def _of_punctuation(text: str, _: bool) -> list[str]:
    found: list[str] = []
    word = ""
    for one in text:
        if is_punctuation(one):
            found += [word, one] if word else [one]
            word = ""
        else:
            word += one
    return [*found, word] if word else found


def _unsupported(part: str, value: Any) -> Unsupported:
    return Unsupported(
        "load_tokenizer",
        f"The {part} {value!r} of a tokenizer.json is not supported. Use a GGUF file.",
    )
