"""Tokenizers from the metadata of GGUF files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description
from browsergpu.llm.tokens import byte_level, patterns
from browsergpu.llm.tokens.bpe import BPE, ScoredBPE
from browsergpu.llm.tokens.tokenizer import Added, Tokenizer
from browsergpu.llm.tokens.wordpiece import WordPiece, bert_normalizer, bert_words

_OP = "llm.load"
#: Token types of GGUF.
_CONTROL, _USER_DEFINED, _BYTE, _NORMAL = 3, 4, 6, 1
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace("{1,3}", "")
#: Patterns of words, one after the other, by GGUF's name.
_PATTERNS = {
    "gpt-2": (_GPT2,), "smollm": (r"\p{N}", _GPT2), "starcoder": (r"\p{N}", _GPT2),
    "llama-bpe": (_LLAMA3,), "llama3": (_LLAMA3,), "dbrx": (_LLAMA3,), "smaug-bpe": (_LLAMA3,),
}  # fmt: skip
#: Those of these whose words that are tokens are not split.
_WHOLE_WORDS = {"llama-bpe", "llama3"}


def from_gguf(metadata: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer of a GGUF file.

    Raises InvalidArgument for malformed metadata, and Unsupported for another kind of tokenizer.
    """
    kind = _get(metadata, "model", str)
    makers = {"gpt2": _byte_level, "llama": _sentencepiece, "bert": _wordpiece}
    if kind not in makers:
        raise Unsupported(
            _OP, f"tokenizer.ggml.model must be one of {', '.join(makers)}, got {kind!r}. "
            "Use another model."
        )  # fmt: skip
    tokens = _get(metadata, "tokens", list)
    types = metadata.get("tokenizer.ggml.token_type", np.ones(len(tokens), np.int32))
    if not isinstance(types, np.ndarray) or len(types) != len(tokens):
        raise _wrong("token_type", types, f"{len(tokens)} numbers, as tokens")
    return makers[kind](metadata, tokens, types)


def _added(tokens: list[str], types: np.ndarray) -> dict[int, Added]:
    return {
        int(id): Added(tokens[id], special=types[id] == _CONTROL)
        for id in np.flatnonzero((types == _CONTROL) | (types == _USER_DEFINED))
    }


def _byte_level(metadata: Mapping[str, Any], tokens: list[str], types: np.ndarray) -> Tokenizer:
    name = metadata.get("tokenizer.ggml.pre", "")
    if name not in _PATTERNS:
        raise Unsupported(
            _OP, f"tokenizer.ggml.pre must be one of {', '.join(_PATTERNS)}, got {name!r}. "
            "Use another model.",
        )  # fmt: skip
    own = [patterns.compiled(one) for one in _PATTERNS[name]]

    def words(text: str, _: bool) -> list[str]:
        parts = [text]
        for pattern in own:
            parts = [piece for part in parts for piece in patterns.pieces(pattern, part)]
        return [byte_level.to_characters(part) for part in parts]

    merges = {}
    for rank, pair in enumerate(_get(metadata, "merges", list)):
        left, space, right = pair.partition(" ")
        if not space:
            raise _wrong("merges", pair, "pairs with a space between")
        merges[left, right] = rank
    vocabulary = {token: id for id, token in enumerate(tokens)}
    model = BPE(vocabulary, merges, whole_words=name in _WHOLE_WORDS)
    return Tokenizer(
        tokens, model, normalize=_same, words=words, added=_added(tokens, types),
        before=_edge(metadata, "bos", tokens, default=False),
        after=_edge(metadata, "eos", tokens, default=False), to_bytes=byte_level.to_bytes,
    )  # fmt: skip


def _sentencepiece(metadata: Mapping[str, Any], tokens: list[str], types: np.ndarray) -> Tokenizer:
    scores = metadata.get("tokenizer.ggml.scores")
    if not isinstance(scores, np.ndarray) or len(scores) != len(tokens):
        raise _wrong("scores", scores, f"{len(tokens)} numbers, as tokens")
    formed = {
        tokens[id]: float(scores[id]) for id in np.flatnonzero((types != _CONTROL) & (types != 2))
    }
    vocabulary = {token: id for id, token in enumerate(tokens)}
    unknown = _id(metadata, "unknown_token_id", tokens, 0)
    prefixed = bool(metadata.get("tokenizer.ggml.add_space_prefix", True))

    def words(text: str, at_start: bool) -> list[str]:
        own = text.replace(" ", "▁")
        return ["▁" + own if prefixed and at_start else own]

    def finish(text: str) -> str:
        return text[1:] if prefixed and text.startswith(" ") else text

    return Tokenizer(
        tokens, ScoredBPE(vocabulary, formed, unknown), normalize=_same, words=words,
        added=_added(tokens, types), before=_edge(metadata, "bos", tokens, default=True),
        after=_edge(metadata, "eos", tokens, default=False), to_bytes=_sentencepiece_bytes,
        finish=finish,
    )  # fmt: skip


def _sentencepiece_bytes(token: str) -> bytes:
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        try:
            return bytes([int(token[3:5], 16)])
        except ValueError:
            pass
    return token.replace("▁", " ").encode("utf-8", "surrogateescape")


def _wordpiece(metadata: Mapping[str, Any], tokens: list[str], types: np.ndarray) -> Tokenizer:
    own = {}
    for id, token in enumerate(tokens):  # GGUF marks the first part of a word
        if types[id] == _CONTROL:
            own[token] = id
        else:
            own[token[1:] if token.startswith("▁") else f"##{token}"] = id
    unknown = _id(metadata, "unknown_token_id", tokens, 100)
    is_lower = True
    model = WordPiece(own, unknown)
    named = sorted(own, key=own.__getitem__)
    return Tokenizer(
        named, model, normalize=bert_normalizer(lowercase=is_lower), words=bert_words,
        added=_added(named, types), before=(_id(metadata, "cls_token_id", tokens, 101),),
        after=(_id(metadata, "seperator_token_id", tokens, 102),),
        to_bytes=WordPiece.token_bytes, finish=str.strip,
    )  # fmt: skip


def _same(text: str) -> str:
    return text


def _edge(metadata: Mapping[str, Any], name: str, tokens: list[str], *, default: bool) -> list[int]:
    """Return the token of beginning or end that is added to each text, if any."""
    is_added = metadata.get(f"tokenizer.ggml.add_{name}_token", default)
    if not is_added:
        return []
    return [_id(metadata, f"{name}_token_id", tokens, None)]


def _id(metadata: Mapping[str, Any], key: str, tokens: list[str], default: int | None) -> int:
    found = metadata.get(f"tokenizer.ggml.{key}", default)
    if not isinstance(found, int) or not 0 <= found < len(tokens):
        raise _wrong(key, found, f"a token from 0 to {len(tokens) - 1}")
    return found


def _get(metadata: Mapping[str, Any], key: str, kind: type) -> Any:
    found = metadata.get(f"tokenizer.ggml.{key}")
    if not isinstance(found, kind):
        raise _wrong(key, found, f"a {kind.__name__}")
    return found


def _wrong(key: str, value: Any, expected: str) -> InvalidArgument:
    shown = Description("none") if value is None else value
    return InvalidArgument(_OP, f"tokenizer.ggml.{key}", shown, expected)
