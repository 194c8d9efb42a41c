"""Turns the Python blocks of a page into cells that readers can run.

A page asks for it by a line with MARK. The cells come from the notebook page that the documentation
is part of. Without that page, the blocks stay plain code.
"""

import posixpath
import re

MARK = "<!-- runnable -->"
#: From the documentation's folder.
_SCRIPT = "../browsergpu-cell.js"
_BLOCK = re.compile(r'<div class="language-python highlight">.*?</pre></div>', re.DOTALL)


def with_cells(html: str, url: str) -> str:
    """Return a page's HTML with cells. ``url`` is the page's address in the documentation."""
    script = posixpath.relpath(_SCRIPT, posixpath.dirname(url) or ".")
    cells = _BLOCK.sub(lambda block: f"<browsergpu-cell>{block[0]}</browsergpu-cell>", html)
    return f'{cells}\n<script src="{script}" async></script>'
