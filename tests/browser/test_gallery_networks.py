"""The gallery's notebooks that train networks, with few steps: their own checks succeed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.gallery import MODEL, SMALL, number, open_gallery, run, run_shown, show
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.static import static_host
from playwright.sync_api import expect

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all notebooks."""
    with open_gallery(lab) as notebook:
        yield notebook


def test_digits(notebook: NotebookPage) -> None:
    text = run(notebook, "digits")
    assert number(text, "then") < number(text, "in the end: loss") / 2
    assert number(text, "; digits right") > 0.8  # after three epochs with eight channels
    misread = re.search(r"(\d+) of 300 are misread", text)
    assert misread
    assert int(misread[1]) / 300 == pytest.approx(1 - number(text, "; digits right"), abs=1e-3)
    for index in (2, 9):  # some digits, and the misread ones
        expect(notebook.output(index).locator("img")).to_be_visible()


def test_letters(notebook: NotebookPage) -> None:
    text = run(notebook, "letters")
    assert number(text, "then") < number(text, "in the end: loss") - 0.5
    assert re.search(r"9\d\d,\d{3} letters", text)  # from NumPy's documentation
    assert text.count("is most like") == 2
    for index in (12, 14):  # the attention, and the similar letters
        expect(notebook.output(index).locator("img")).to_be_visible()


def set_address(notebook: NotebookPage, address: str) -> None:
    notebook.fill(1, f"{SMALL['nanogpt']}\naddress = {address!r}")


def check_nanogpt(notebook: NotebookPage, text: str) -> None:
    expect(notebook.output(3)).to_contain_text("import torch.nn as nn")
    assert number(text, "then") < number(text, "in the end: loss") - 0.5


def test_nanogpt_from_an_address(notebook: NotebookPage, tmp_path: Path) -> None:
    """The host has a small GPT in place of nanoGPT's file. An error says what a reader can do."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "page.html").write_text("<html>model.py on GitHub</html>", encoding="utf-8")
    show(notebook, "nanogpt")
    traceback = notebook.page.locator(".output-traceback")
    with static_host(tmp_path) as closed, static_host(tmp_path, is_open=True) as opened:
        for address, words in (
            (
                f"{closed}/model.py",
                f"cannot fetch {closed}/model.py: .* Drop model.py on this page",
            ),
            (f"{opened}/missing.py", "404.*paste its text between the quotes"),
            (f"{opened}/page.html", "must define the class GPT, got '<html>"),
        ):
            set_address(notebook, address)
            notebook.press("Run all")
            notebook.wait_finished()
            expect(traceback.first).to_contain_text(re.compile(words, re.DOTALL))
        set_address(notebook, f"{opened}/model.py")
        check_nanogpt(notebook, run_shown(notebook))


def test_nanogpt_pasted(notebook: NotebookPage) -> None:
    """The text of a file between the quotes, without an address that answers."""
    show(notebook, "nanogpt")
    notebook.cell(3).locator(".cm-line", has_text="pasted = r'''").click()
    notebook.page.keyboard.press("End")
    notebook.page.keyboard.insert_text(f"\n{MODEL}")
    check_nanogpt(notebook, run_shown(notebook))


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
    expect(notebook.output(8).locator("img")).to_be_visible()  # digits below their answers


def test_chat(notebook: NotebookPage) -> None:
    """Of a tiny model with random weights, in place of the downloaded one."""
    text = run(notebook, "chat")
    assert number(text, "then") > 0  # tokens a second
    assert re.search("the animal: (cat|dog|bird) with legs: (2|4)", text)
    assert number(text, "adds up to:") > 0.99
    assert number(text, "itself:") > 0.99


def test_notes(notebook: NotebookPage) -> None:
    """Of a tiny encoder with random weights, in place of the downloaded one."""
    text = run(notebook, "notes")
    assert "8 notes of 1 files" in text
    assert "milk and eggs" in text
    assert text.count("examples: ") == 3
    assert number(text, "itself:") > 0.99
