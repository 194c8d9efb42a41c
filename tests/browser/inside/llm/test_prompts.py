"""Prompts of all lengths, whose parts are padded and captured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny

pytestmark = pytest.mark.native


@pytest.fixture
def llm(bg: Any) -> Iterator[Any]:
    data = tiny.file_of(bg, tiny.weights("llama"), tiny.metadata("llama"))
    found = bg.llm.load(data, context=48)
    yield found
    found.close()


def _tokens(length: int) -> list[int]:
    return np.random.default_rng(length).integers(3, 250, length).tolist()


@pytest.mark.fast
def test_states_do_not_depend_on_padding_and_capture(llm: Any) -> None:
    from browsergpu.llm.generation.prompts import Prompts

    prompts = Prompts(llm.model, llm._cache)
    for length in (1, 3, 9, 17, 20, 23, 33, 47, 33):  # the last ones end at the cache's end
        whole = np.asarray(llm.logits(_tokens(length)))[-1]
        for begin in (0, length // 2):  # the cache has the tokens before
            found = llm.model.logits(prompts.states([_tokens(length)], [begin]))
            assert np.allclose(np.asarray(found)[0], whole, atol=1e-4)
    prompts.close()


def test_states_stay(llm: Any) -> None:
    """Later prompts of the same shape do not change the states of earlier ones."""
    from browsergpu.llm.generation.prompts import Prompts

    prompts = Prompts(llm.model, llm._cache)
    found = [prompts.states([_tokens(length)], [0]) for length in (20, 21, 22, 23)]
    for length, state in zip((20, 21, 22, 23), found, strict=True):
        whole = np.asarray(llm.logits(_tokens(length)))[-1]
        assert np.allclose(np.asarray(llm.model.logits(state))[0], whole, atol=1e-4)
    prompts.close()


def test_captured_parts_are_bounded(llm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.llm.generation import prompts as module

    monkeypatch.setattr(module, "_MOST", 40)
    prompts = module.Prompts(llm.model, llm._cache)

    def captured() -> set[tuple[int, int]]:
        return {shape for shape, part in prompts._parts.items() if part is not None}

    for length in (8, 8, 16, 16, 8, 24, 24):
        prompts.states([_tokens(length)], [0])
    assert captured() == {(1, 8), (1, 24)}  # of at most 40 tokens, the last ones
    prompts.close()
    assert not captured()


def test_lengths() -> None:
    from browsergpu.llm.tokens.groups import padded_length

    expected = {1: 1, 3: 4, 5: 8, 9: 16, 17: 24, 25: 32, 33: 48, 49: 64, 65: 96, 385: 512, 512: 512}
    assert {length: padded_length(length) for length in expected} == expected
