"""The gallery's notebooks that train networks, with few steps: their own checks succeed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from harness.gallery import number, open_gallery, run
from harness.lab import Lab
from harness.notebook import NotebookPage

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all notebooks."""
    with open_gallery(lab) as notebook:
        yield notebook


def test_digits(notebook: NotebookPage) -> None:
    text = run(notebook, "digits")
    assert number(text, "then") < number(text, "in the end: loss") / 2
    assert number(text, "digits right") > 0.8  # after four epochs with eight channels


def test_letters(notebook: NotebookPage) -> None:
    text = run(notebook, "letters")
    assert number(text, "then") < number(text, "in the end: loss") - 0.5
    assert re.search(r"9\d\d,\d{3} letters", text)  # from NumPy's documentation


def test_nanogpt(notebook: NotebookPage) -> None:
    """Of the file that the browser fetches, whose place a small GPT takes here."""
    text = run(notebook, "nanogpt")
    assert "import torch.nn as nn" in text
    assert number(text, "then") < number(text, "in the end: loss") - 0.5


def test_swirl(notebook: NotebookPage) -> None:
    text = run(notebook, "swirl")
    assert number(text, "from the spiral") < number(text, "noise") / 2


def test_membrane(notebook: NotebookPage) -> None:
    text = run(notebook, "membrane")
    assert number(text, "then") < number(text, "loss") / 3
    assert number(text, "largest error") < 0.6  # after few steps


def test_retrained(notebook: NotebookPage) -> None:
    text = run(notebook, "retrained")
    assert number(text, "and now") > max(0.6, number(text, "read rightly"))
    assert "those of the file: True" in text


def test_chat(notebook: NotebookPage) -> None:
    """Of a tiny model with random weights, in place of the downloaded one."""
    text = run(notebook, "chat")
    assert number(text, "then") > 0  # tokens a second
    assert re.search("the animal: (cat|dog|bird) with legs: (2|4)", text)
    assert number(text, "itself:") > 0.99
