"""The gallery's notebook that searches notes, with MiniLM, also offline after the first visit."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.gallery import last_canvas
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.published import run_all, wait_for_files
from harness.static import static_host
from playwright.sync_api import Page, expect
from tests.unit.llm.conftest import minilm as minilm  # the fixture

from devsite.site import prepare
from publish.folder import publish

pytestmark = pytest.mark.all

NOTES = "Feed the cat at noon.\n\nThe rocket starts on Friday.\n\nPay the rent."


@pytest.fixture
def host(minilm: Path, tmp_path: Path) -> Path:
    """A host's folder with the page at project/, and MiniLM at minilm/."""
    publish(prepare().roots, tmp_path / "project")
    shutil.copytree(minilm, tmp_path / "minilm")
    return tmp_path


@pytest.fixture
def page(lab: Lab) -> Iterator[Page]:
    context = lab.new_context(viewport={"width": 1360, "height": 900})
    yield context.new_page()
    context.close()


def test_notes_are_found_offline_after_the_first_visit(page: Page, host: Path) -> None:
    with static_host(host) as address:
        notebook = NotebookPage(page, f"{address}/project")
        notebook.open()
        notebook.press("Gallery")
        page.get_by_role("dialog").get_by_role("button", name="Notes", exact=True).click()
        expect(page.locator(".title-input")).to_have_value("notes")
        notebook.close_messages()
        model = f"address = '{address}/minilm/'\n"
        text = run_all(notebook, f"{model}question = 'What should I get at the supermarket?'")
        assert text.index("Buy milk, eggs") < text.index("  examples: ", text.index("Buy milk"))
        content = list(NOTES.encode())
        notebook.drop([{"name": "mine.txt", "type": "text/plain", "bytes": content}])
        notebook.close_messages()
        notebook.wait_kept()
        wait_for_files(page, host)
    # The host is gone.
    page.reload()
    notebook.wait_idle()
    text = run_all(notebook, f"{model}question = 'When is the launch to space?'")
    assert "3 notes of 1 files" in text
    best = text[text.index("launch to space?") :].splitlines()[1]
    assert "mine.txt: The rocket starts on Friday." in best
    expect(last_canvas(page)).to_be_visible()
