"""Texts of a tiny model under constraints."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from inside.llm.test_text import PROMPT
from inside.llm.test_text import llm as llm  # the fixture

pytestmark = pytest.mark.native


@pytest.mark.fast
def test_texts_match(bg: Any, llm: Any) -> None:
    pattern = r"(the|hello) [0-9]{3}(é|w)"
    for options in ({}, {"temperature": 1.5, "seed": 4, "top_k": 50, "repetition_penalty": 1.3}):
        found = llm.generate(PROMPT, max_tokens=40, regex=pattern, **options)
        assert re.fullmatch(pattern, found), found
        assert found.finish_reason == "stop"
        assert "".join(llm.stream(PROMPT, max_tokens=40, regex=pattern, **options)) == found


def test_greedy_tokens_are_the_most_probable_allowed(bg: Any, llm: Any) -> None:
    found = llm.generate(PROMPT, max_tokens=6, regex="[a-m]{6}", logprobs=True)
    tokens = llm.tokenizer.encode(PROMPT)
    logits = np.asarray(llm.logits(tokens + found.tokens))
    texts = [llm.tokenizer.token_bytes(id).decode("utf-8", "replace") for id in range(268)]
    done = ""
    for n, token in enumerate(found.tokens):
        allowed = [
            id for id, text in enumerate(texts)
            if text and re.fullmatch("[a-m]+", text) and len(done + text) <= 6
        ]  # fmt: skip
        own = logits[len(tokens) - 1 + n]
        assert token == max(allowed, key=lambda id: own[id])
        assert abs(found.logprobs[n] - (own[token] - np.logaddexp.reduce(own))) < 1e-3
        done += texts[token]
    assert done == found


def test_json(bg: Any, llm: Any) -> None:
    schema = {
        "type": "object", "required": ["ok", "size"],
        "properties": {"ok": {"type": "boolean"}, "size": {"enum": ["small", "large"]}},
    }  # fmt: skip
    found = llm.generate(PROMPT, max_tokens=60, temperature=1.0, seed=2, json_schema=schema)
    own = json.loads(found)
    assert isinstance(own["ok"], bool)
    assert own["size"] in ("small", "large")


def test_texts_without_constraints_are_unchanged(bg: Any, llm: Any) -> None:
    expected = llm.generate(PROMPT, max_tokens=10).tokens
    llm.generate(PROMPT, max_tokens=10, regex="[0-9]+")
    assert llm.generate(PROMPT, max_tokens=10).tokens == expected
    long = llm.generate(PROMPT, max_tokens=7, regex="[0-9]{50}")
    assert long.finish_reason == "length"
    assert re.fullmatch("[0-9]{7}", long)


def test_bad_constraints(bg: Any, llm: Any) -> None:
    with pytest.raises(ValueError, match="regex must be left out beside json_schema"):
        llm.generate(PROMPT, regex="a", json_schema={"type": "null"})
    with pytest.raises(TypeError, match="regex must be a string"):
        llm.generate(PROMPT, regex=5)
    with pytest.raises(TypeError, match="json_schema must be a dict"):
        llm.stream(PROMPT, json_schema="null")
    with pytest.raises(ValueError, match="regex must be a regular expression"):
        llm.generate(PROMPT, regex="(")
