"""tools/docsite: links between documents lead to pages of the site or to the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from docsite.cells import with_cells
from docsite.links import rewritten

pytestmark = pytest.mark.fast


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("docs/guide.md", "docs/tutorials/first.md", "CONTRIBUTING.md", "tests/test_it.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def on_site(markdown: str, repository: Path, url: str = "") -> str:
    pages = {
        repository / "docs" / "guide.md": "guide.md",
        repository / "docs" / "tutorials" / "first.md": "tutorials/first.md",
        repository / "CONTRIBUTING.md": "CONTRIBUTING.md",
    }
    source = repository / "docs" / "tutorials" / "first.md"
    return rewritten(markdown, source, "tutorials/first.md", pages, repository, url)


@pytest.mark.parametrize("link", ["[a](../guide.md#b)", "[a](#b)", "[a](https://x.example/y)"])
def test_links_within_the_site_stay(link: str, repository: Path) -> None:
    assert on_site(link, repository) == link


def test_a_link_to_a_page_from_outside_the_folder_leads_to_that_page(repository: Path) -> None:
    found = on_site("[how\nto](../../CONTRIBUTING.md#tests)", repository)
    assert found == "[how\nto](../CONTRIBUTING.md#tests)"


def test_a_link_to_another_file_leads_to_the_repository_or_is_text(repository: Path) -> None:
    link = "see [`it`](../../tests/test_it.py)."
    assert on_site(link, repository) == "see `it`."
    found = on_site(link, repository, "https://x.example/project/")
    assert found == "see [`it`](https://x.example/project/blob/HEAD/tests/test_it.py)."


def test_a_link_to_nothing_stays_for_mkdocs_to_report(repository: Path) -> None:
    assert on_site("[a](../../tests/gone.py)", repository) == "[a](../../tests/gone.py)"


def test_code_stays(repository: Path) -> None:
    code = "```python\nrows[0](../../tests/test_it.py)\n```"
    assert on_site(code, repository) == code


def test_python_blocks_of_a_page_become_cells_and_others_stay() -> None:
    def block(language: str, text: str) -> str:
        return f'<div class="language-{language} highlight"><pre><code>{text}</code></pre></div>'

    html = block("python", "1\n2") + "<p>and</p>" + block("sh", "ls") + block("python", "3")
    found = with_cells(html, "tutorials/first.html")
    assert found.count("<browsergpu-cell>") == 2
    assert f"<browsergpu-cell>{block('python', '3')}</browsergpu-cell>" in found
    assert f"<p>and</p>{block('sh', 'ls')}<browsergpu-cell>" in found
    assert found.endswith('<script src="../../browsergpu-cell.js" async></script>')
    assert 'src="../browsergpu-cell.js"' in with_cells(html, "index.html")
