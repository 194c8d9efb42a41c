"""Whether a page's Python started from a memory snapshot (web/kernel/python-start.js)."""

from __future__ import annotations

from playwright.sync_api import Page

# Without a snapshot, the kernel imports its module `bytecode` first.
_CODE = """import sys as _sys
_names = list(_sys.modules)
_names.index("IPython") < _names.index("notebook_kernel.bytecode")"""


def starts_from_a_snapshot(page: Page) -> bool:
    """Return whether the kernel has IPython from a snapshot."""
    return bool(page.evaluate("(code) => browsergpu.run(code)", _CODE) == "True")
