"""Automata of patterns and schemas beside ``re`` and ``json``."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.llm.constraints.characters import LAST, byte_ranges
from browsergpu.llm.constraints.guide import Guide, TokenBytes
from browsergpu.llm.constraints.pattern import parsed
from browsergpu.llm.constraints.schema import pattern_of

pytestmark = pytest.mark.fast

#: Tokens of this test: an end, all bytes, and some texts of several.
TOKENS = [b"", *(bytes([n]) for n in range(256)), b"ab", b'": ', "é€".encode(), b"\xe2\x82", b"12"]


class Tokenizer:
    """As much of a tokenizer as a guide uses."""

    tokens = TOKENS

    def token_bytes(self, id: int) -> bytes:
        return TOKENS[id]


def guide(pattern: str) -> Guide:
    tokens = TokenBytes(Tokenizer(), len(TOKENS) + 2)  # type: ignore[arg-type]
    return Guide(parsed("generate", "regex", pattern), tokens, [0])


def matches(pattern: str, text: str) -> bool:
    own = guide(pattern)
    for byte in text.encode():
        if own.mask()[1 + byte] != 0:
            return False
        own.advance(1 + byte)
    return own.is_match


def drawn(pattern: str, source: random.Random, most: int = 400) -> str | None:
    """A random text of a pattern, or None if it became too long."""
    own, found = guide(pattern), b""
    for _ in range(most):
        allowed = np.flatnonzero(own.mask() == 0)
        assert len(TOKENS) > allowed.max()
        assert (0 in allowed) == own.is_match
        # Ends are likely, so that texts end.
        token = 0 if own.is_match and source.random() < 0.3 else int(source.choice(list(allowed)))
        if token == 0:
            return found.decode()
        found += TOKENS[token]
        own.advance(token)
        if own.is_complete:
            return found.decode()
    return None


PATTERNS = [
    "abc", "a*", "(ab|a)+c?", "[a-c]{2,4}", "[^a]", ".", r"\d{3}-\d{4}", "x?",
    r"[\w.]+@[a-z]+\.(com|org)", "é+|€", "[α-ω]{1,3}", r"\s\S", r"[^\W\d_]{2}", "(?s:.)",
    "^begin$", "(a|)(b|)", "(?:a{0,2}b){2}", "", "[\U0001f600-\U0001f64f]", r"\D", r"(?a)\w",
    "a??b+?", "[\x00-\U0010ffff]",
]  # fmt: skip
TEXTS = [
    "", "a", "b", "aa", "ab", "abc", "aabc", "abab", "c", "x", "é", "éé", "€", "α", "ωβγ", "\n",
    " a", "1", "123-4567", "a.b@c.com", "a@b.net", "begin", "aabb", "bb", "ö", "日本", "٣", "😀",
    "_a", "ab1", "\u00a0x", "\u2028", "b", "abbb",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_are_those_of_re(pattern: str) -> None:
    expected = [bool(re.fullmatch(pattern, text)) for text in TEXTS]
    assert [matches(pattern, text) for text in TEXTS] == expected
    source = random.Random(1)
    for _ in range(20):
        text = drawn(pattern, source)
        assert text is None or re.fullmatch(pattern, text), text


def test_all_characters_have_their_bytes() -> None:
    source = random.Random(2)
    for _ in range(300):
        edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, LAST]
        low, high = sorted(source.choices([*edges, source.randrange(LAST)], k=2))
        found = list(byte_ranges(low, high))
        for point in (low, high, low - 1, high + 1, source.randint(low, high)):
            if not 0 <= point <= LAST or 0xD800 <= point <= 0xDFFF:
                continue
            own = chr(point).encode()
            hits = [
                parts for parts in found
                if len(parts) == len(own)
                and all(a <= byte <= b for byte, (a, b) in zip(own, parts, strict=True))
            ]  # fmt: skip
            assert len(hits) == (low <= point <= high)


def test_tokens_end_within_characters() -> None:
    own = guide("€")
    allowed = {TOKENS[at] for at in np.flatnonzero(own.mask() == 0)}
    assert allowed == {b"\xe2", b"\xe2\x82"}
    own.advance(TOKENS.index(b"\xe2\x82"))
    assert not own.is_match
    own.advance(1 + 0xAC)
    assert own.is_complete


SCHEMA = {
    "type": "object", "title": "A person",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a", 'b"c', 3, None]}, "maxItems": 3},
        "size": {"anyOf": [{"$ref": "#/$defs/size"}, {"type": "null"}]},
        "day": {"type": "string", "format": "date"}, "ok": {"type": ["boolean", "null"]},
    },
    "required": ["age", "day"],
    "$defs": {"size": {"type": "number"}},
}  # fmt: skip


def test_texts_of_a_schema_are_valid() -> None:
    source = random.Random(3)
    pattern = pattern_of("generate", SCHEMA)
    seen: set[str] = set()
    count = 0
    for _ in range(60):
        text = drawn(pattern, source)
        if text is None:
            continue
        count += 1
        found = json.loads(text)
        seen |= set(found)
        assert list(found) == [name for name in SCHEMA["properties"] if name in found]  # type: ignore[attr-defined]
        assert {"age", "day"} <= set(found)
        assert isinstance(found["age"], int)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["day"])
        assert 1 <= len(found.get("name", "x")) <= 5
        assert len(found.get("tags", [])) <= 3
        assert all(one in ["a", 'b"c', 3, None] for one in found.get("tags", []))
        assert isinstance(found.get("size"), int | float | None)
        assert found.get("ok") in (True, False, None)
    assert count > 20
    assert seen == set(SCHEMA["properties"])  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "required"), [(3, []), (3, [1]), (4, [0, 3]), (1, []), (0, [])])
def test_which_properties_are_there(count: int, required: list[int]) -> None:
    names = [f"p{n}" for n in range(count)]
    needed = [names[n] for n in required]
    schema = {
        "type": "object", "properties": {name: {"const": 1} for name in names}, "required": needed,
    }  # fmt: skip
    pattern = pattern_of("generate", schema)
    for mask in range(1 << count):
        chosen = [name for n, name in enumerate(names) if mask >> n & 1]
        for text in (json.dumps(dict.fromkeys(chosen, 1)),
                     json.dumps(dict.fromkeys(chosen, 1), separators=(",", ":"))):  # fmt: skip
            assert bool(re.fullmatch(pattern, text)) == (set(needed) <= set(chosen)), text
    assert not re.fullmatch(pattern, "{,}")


def test_arrays_have_their_lengths() -> None:
    for least, most in ((0, None), (0, 0), (1, None), (2, 3), (0, 1), (1, 1)):
        schema: dict[str, Any] = {"type": "array", "items": {"const": 0}, "minItems": least}
        if most is not None:
            schema["maxItems"] = most
        pattern = pattern_of("generate", schema)
        for count in range(5):
            is_valid = least <= count <= (9 if most is None else most)
            assert bool(re.fullmatch(pattern, json.dumps([0] * count))) == is_valid


@pytest.mark.parametrize("pattern", [
    r"(a)\1", "(?=a)b", r"a\b", "a(?>b)", "a++", "(?i)a", "(?m)a", "a^b", "(?<!a)b",
])  # fmt: skip
def test_unsupported_patterns(pattern: str) -> None:
    with pytest.raises(Unsupported, match="regex has"):
        guide(pattern)


@pytest.mark.parametrize("pattern", [
    "(", "a{3,2}", "[z-a]", "(a{9999}){9999}", "(){4294967294}", "((){99999}){99999}", "(" * 9999,
    "x" * 100_001, r"\w{9999}",
])  # fmt: skip
def test_refused_patterns(pattern: str) -> None:
    with pytest.raises(InvalidArgument, match="regex must be"):
        guide(pattern)


def test_a_pattern_that_nothing_matches() -> None:
    with pytest.raises(InvalidArgument, match="regex must be an expression that matches some"):
        guide(r"a[^\x00-\U0010ffff]")
    # The model has no token for the text.
    tokens = TokenBytes(Tokenizer(), len(TOKENS))  # type: ignore[arg-type]
    tokens.lengths[:250] = 0
    with pytest.raises(InvalidArgument, match="texts the model's tokens can form"):
        Guide(parsed("generate", "regex", "xyz"), tokens, [0]).mask()


@pytest.mark.parametrize("schema", [
    {"type": "string", "pattern": "a"}, {"type": "integer", "minimum": 3}, {"type": "array"},
    {"oneOf": []}, {"$ref": "#"}, {"$ref": "http://x"}, {"type": "string", "format": "email"},
    {"type": "array", "items": {"$ref": "#"}}, {"enum": [1], "minimum": 0},
    {"type": "object", "additionalProperties": {"type": "null"}},
])  # fmt: skip
def test_unsupported_schemas(schema: Any) -> None:
    with pytest.raises((Unsupported, ValueError)):
        pattern_of("generate", schema)


@pytest.mark.parametrize("schema", [
    {}, {"type": "text"}, {"enum": []}, {"enum": 3}, {"const": float("nan")}, {"const": {1}}, [1],
    {"type": "object", "required": ["a"]}, {"type": "object", "properties": [1]}, "integer",
    {"type": "array", "items": 3}, {"type": "string", "minLength": 4, "maxLength": 3},
    {"$ref": "#/$defs/none"}, {"type": "string", "minLength": -1}, {"type": [["x"]]},
    {"type": "object", "properties": {"x" * n: {"type": "number"} for n in range(3000)}},
])  # fmt: skip
def test_malformed_schemas(schema: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        pattern_of("generate", schema)
