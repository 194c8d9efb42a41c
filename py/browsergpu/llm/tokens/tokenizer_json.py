"""Tokenizers from tokenizer.json, the format of the package tokenizers.

Unknown parts and options are refused, because ignoring them would give other tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.files import file_bytes
from browsergpu.engine.core.showing import Description
from browsergpu.llm.tokens import byte_level
from browsergpu.llm.tokens.bpe import BPE
from browsergpu.llm.tokens.json_parts import Words, normalizer, words_of
from browsergpu.llm.tokens.tokenizer import Added, Model, Tokenizer
from browsergpu.llm.tokens.unigram import Unigram
from browsergpu.llm.tokens.wordpiece import WordPiece
from browsergpu.networks.files.headers import shallow_json

_OP = "load_tokenizer"


def load_tokenizer(file: Any) -> Tokenizer:
    """Load a tokenizer from a tokenizer.json.

    Parameters
    ----------
    file : path, bytes or file object
        The file.

    Raises
    ------
    InvalidArgument
        If the file is malformed.
    Unsupported
        If it has parts that are not supported.
    """
    try:
        found = shallow_json(file_bytes(_OP, "file", file).tobytes().decode("utf-8"))
        return _tokenizer(found)
    except InvalidArgument:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        given = Description(f"a malformed file ({type(error).__name__}: {error})")
        raise InvalidArgument(_OP, "file", given, "a tokenizer.json") from None


def _tokenizer(found: dict[str, Any]) -> Tokenizer:
    model, vocabulary = _model(found["model"])
    added = {}
    for one in found.get("added_tokens") or ():
        added[int(one["id"])] = Added(
            one["content"], special=one["special"], left=one["lstrip"], right=one["rstrip"],
            single=one["single_word"], normalized=one["normalized"],
        )  # fmt: skip
    count = max([*vocabulary.values(), *added], default=-1) + 1
    if count > 2 * (len(vocabulary) + len(added)) + 1000:
        raise ValueError("ids with large gaps")
    tokens = [""] * count
    for token, id in vocabulary.items():
        tokens[id] = token
    for id, own in added.items():
        tokens[id] = own.text
    words: Words = words_of(found.get("pre_tokenizer"))
    before, after = _around(found.get("post_processor"))
    to_bytes, finish = _decoder(found.get("decoder"))
    return Tokenizer(
        tokens, model, normalize=normalizer(found.get("normalizer")), words=words, added=added,
        before=before, after=after, to_bytes=to_bytes, finish=finish,
    )  # fmt: skip


def _model(own: dict[str, Any]) -> tuple[Model, dict[str, int]]:
    """Return the model and the ids of its tokens."""
    kind = own.get("type") or ("BPE" if "merges" in own else "WordPiece")
    if kind == "BPE":
        _refuse(own, dropout=None, continuing_subword_prefix=None, end_of_word_suffix=None)
        vocabulary = own["vocab"]
        merges = {}
        for rank, pair in enumerate(own["merges"]):
            left, right = pair.split(" ") if isinstance(pair, str) else pair
            merges[left, right] = rank
        unknown = own.get("unk_token")
        return (
            BPE(
                vocabulary, merges, None if unknown is None else vocabulary[unknown],
                whole_words=bool(own.get("ignore_merges")),
                byte_fallback=bool(own.get("byte_fallback")),
                fuse_unknown=bool(own.get("fuse_unk")),
            ),
            vocabulary,
        )  # fmt: skip
    if kind == "WordPiece":
        vocabulary = own["vocab"]
        prefix = own.get("continuing_subword_prefix", "##")
        longest = own.get("max_input_chars_per_word", 100)
        return WordPiece(vocabulary, vocabulary[own["unk_token"]], prefix, longest), vocabulary
    if kind == "Unigram":
        vocabulary = {token: id for id, (token, _) in enumerate(own["vocab"])}
        scores = {token: float(score) for token, score in own["vocab"]}
        unknown = own.get("unk_id")
        if unknown is not None:
            scores.pop(own["vocab"][unknown][0], None)
        return (
            Unigram(vocabulary, scores, unknown, byte_fallback=bool(own.get("byte_fallback"))),
            vocabulary,
        )
    raise _unsupported("model", kind)


def _around(own: dict[str, Any] | None) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a single text."""
    if own is None:
        return [], []
    kind = own["type"]
    if kind == "ByteLevel":
        return [], []
    if kind in ("BertProcessing", "RobertaProcessing"):
        return [own["cls"][1]], [own["sep"][1]]
    if kind == "TemplateProcessing":
        before: list[int] = []
        after: list[int] = []
        ids = own["special_tokens"]
        target = before
        for one in own["single"]:
            if "Sequence" in one:
                target = after
            else:
                target += ids[one["SpecialToken"]["id"]]["ids"]
        return before, after
    if kind == "Sequence":
        parts = [_around(one) for one in own["processors"]]
        return (
            [id for before, _ in reversed(parts) for id in before],
            [id for _, after in parts for id in after],
        )
    raise _unsupported("post_processor", kind)


def _decoder(own: dict[str, Any] | None) -> tuple[Callable[[str], bytes], Callable[[str], str]]:
    """Return the functions for bytes of tokens, and for the joined text."""
    if own is None:
        return _plain, _same
    kind = own["type"]
    if kind == "ByteLevel":
        return byte_level.to_bytes, _same
    if kind == "WordPiece":
        return _cleaned if own.get("cleanup", True) else WordPiece.token_bytes, _stripped
    if kind == "Metaspace":
        own_mark = own.get("replacement", "▁")
        prefixed = own.get("prepend_scheme", "always") != "never"
        return _marked(own_mark), _stripped if prefixed else _same
    if kind == "Sequence":
        kinds = [one["type"] for one in own["decoders"]]
        if kinds[:3] == ["Replace", "ByteFallback", "Fuse"] and kinds[3:] in ([], ["Strip"]):
            return _marked("▁"), _stripped if kinds[3:] else _same
        if kinds == ["ByteLevel"]:
            return byte_level.to_bytes, _same
        raise _unsupported("decoder", kinds)
    raise _unsupported("decoder", kind)


def _marked(mark: str) -> Callable[[str], bytes]:
    def to_bytes(token: str) -> bytes:
        if len(token) == 6 and token.startswith("<0x"):
            return bytes([int(token[3:5], 16)])
        return token.replace(mark, " ").encode("utf-8", "surrogateescape")

    return to_bytes


def _cleaned(token: str) -> bytes:
    """Return the bytes of a token without a space before punctuation, as the package does."""
    text = WordPiece.token_bytes(token).decode("utf-8", "surrogateescape")
    for space in (" .", " ?", " !", " ,"):
        text = text.replace(space, space[1])
    text = text.replace(" ' ", "'").replace(" n't", "n't").replace(" 'm", "'m")
    text = text.replace(" do not", " don't")
    for space in (" 's", " 've", " 're"):
        text = text.replace(space, space[1:])
    return text.encode("utf-8", "surrogateescape")


def _plain(token: str) -> bytes:
    return token.encode("utf-8", "surrogateescape")


def _stripped(text: str) -> str:
    return text[1:] if text.startswith(" ") else text


def _same(text: str) -> str:
    return text


def _refuse(own: dict[str, Any], **defaults: Any) -> None:
    """Raise Unsupported for options with another value than None, the default or ''."""
    for name, default in defaults.items():
        if own.get(name, default) not in (default, None, "", 0):
            raise _unsupported(name, own[name])


def _unsupported(part: str, value: Any) -> Unsupported:
    return Unsupported(
        _OP, f"The {part} {value!r} of a tokenizer.json is not supported. Use a GGUF file."
    )
