"""MkDocs hooks that add pages and rewrite links."""

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "py"))

from devsite.layout import REPOSITORY
from docsite.cells import MARK, with_cells
from docsite.links import rewritten
from docsite.pages import navigation, pages

#: Files outside docs/ that are on the site, by their path among its sources.
_OTHERS = {
    **{
        name: REPOSITORY / name
        for name in ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
    },
    "favicon.svg": REPOSITORY / "web" / "favicon.svg",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the API reference into the navigation."""
    entries: list[dict[str, list[Any]]] = [one for one in config.nav or [] if isinstance(one, dict)]
    (reference,) = (one["Reference"] for one in entries if "Reference" in one)
    reference[:0] = navigation()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name, path in _OTHERS.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a document."""
    source = page.file.abs_src_path
    if source is None:  # a page of the reference
        return markdown
    known = {Path(file.abs_src_path).resolve(): file.src_uri for file in files if file.abs_src_path}
    return rewritten(
        markdown, Path(source), page.file.src_uri, known, REPOSITORY, config.repo_url or ""
    )


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the examples of a page runnable, if the page asks for it."""
    return with_cells(html, page.url) if MARK in (page.markdown or "") else html
