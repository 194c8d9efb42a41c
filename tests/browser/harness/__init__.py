"""The harness of the browser tests: Chromium, the site, the bare page, tests inside Pyodide."""

from pathlib import Path


def in_page_source() -> str:
    """Return the module that runs pytest inside Pyodide."""
    return (Path(__file__).parent / "in_page.py").read_text(encoding="utf-8")
