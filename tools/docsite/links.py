"""Rewrites repository links in documents for the site."""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

_LINK = re.compile(
    r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)"
)
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def rewritten(
    markdown: str, source: Path, page: str, pages: Mapping[Path, str], repository: Path, url: str
) -> str:
    """Return a document with links to pages of the site, or to repository files at a URL.

    ``source`` is the document's file, and ``page`` its path among the site's sources. ``pages`` has
    such a path for each file that is a page. Without a URL, links to other repository files become
    plain text. Broken links stay, so that MkDocs reports them.
    """

    def replaced(match: re.Match[str]) -> str:
        target = (source.parent / match["path"]).resolve()
        anchor = match["anchor"] or ""
        if target in pages:
            path = posixpath.relpath(pages[target], posixpath.dirname(page) or ".")
            return f"[{match['text']}]({path}{anchor})"
        if not target.exists() or not target.is_relative_to(repository):
            return match[0]
        if not url:
            return match["text"]
        place = target.relative_to(repository).as_posix()
        return f"[{match['text']}]({url.rstrip('/')}/blob/HEAD/{place}{anchor})"

    parts = _FENCED.split(markdown)  # text and code alternate
    parts[::2] = [_LINK.sub(replaced, text) for text in parts[::2]]
    return "".join(parts)
