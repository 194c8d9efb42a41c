"""Measures the time Python takes to record an operation, in a headless Chromium on this machine.

    python3 bench/record_cost.py
    PYTHONPATH=py python3 bench/record_cost.py --native

Runs `inside/record_cost.py` in the page's kernel, or with ``--native`` in this process, and prints
its table: median microseconds per call, in total and for Python alone. Compare the second column. A
software GPU uses the same cores, which makes the first column two to three times as long.

Run it with .cache/venv/bin/python, after tests/run.py has created that environment.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

TIMEOUT_MS = 600_000
CODE = (ROOT / "bench" / "inside" / "record_cost.py").read_text(encoding="utf-8")


async def native() -> str:
    """Return the table of this process."""
    names: dict[str, object] = {}
    code = compile(CODE, "record_cost.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    found = eval(code, names)
    if inspect.isawaitable(found):
        await found
    return str(names["table"])


def main() -> None:
    if "--native" in sys.argv[1:]:
        print(asyncio.run(native()))
        return
    # A machine that runs --native needs neither.
    from playwright.sync_api import sync_playwright

    from devsite import chromium, prepare, serving

    with serving(prepare().roots) as address, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(f"{address}/?notebook=none")
        page.evaluate("globalThis.browsergpu.ready")
        print(page.evaluate("code => globalThis.browsergpu.run(code)", CODE))
        browser.close()


if __name__ == "__main__":
    main()
