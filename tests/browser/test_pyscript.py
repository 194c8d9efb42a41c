"""The unchanged page of docs/pyscript.md on a plain static host."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.patience import PATIENCE_MS
from harness.static import static_host
from playwright.sync_api import Page, expect

from devsite.layout import Layout
from devsite.site import prepare
from runner.javascript import ensure_javascript

pytestmark = pytest.mark.all

PINS = Path(__file__).resolve().parents[1] / "pyscript"


def test_the_page_computes_draws_and_answers_a_click(
    tmp_path: Path, new_page: Callable[..., Page]
) -> None:
    layout = Layout()
    packages = layout.cache / "pyscript"
    ensure_javascript(packages, PINS, Path(sys.executable), print)
    text = (layout.repository / "docs" / "pyscript.md").read_text(encoding="utf-8")
    files = {"html": "index.html", "json": "pyscript.json", "python": "main.py"}
    for language, name in files.items():
        (content,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
        (tmp_path / name).write_text(content, encoding="utf-8")
    shutil.copy2(prepare().wheel, tmp_path)
    (tmp_path / "pyscript").symlink_to(packages / "node_modules" / "@pyscript" / "core" / "dist")
    (tmp_path / "pyodide").symlink_to(layout.files / "pyodide")

    with static_host(tmp_path) as url:
        page = new_page()
        strangers: list[str] = []
        page.context.on(
            "request",
            lambda request: None if request.url.startswith((url, "data:", "blob:"))
            else strangers.append(request.url),
        )  # fmt: skip
        page.goto(url)
        said = page.locator("#said")
        expect(said).to_have_text("google swiftshader: 1.00", timeout=PATIENCE_MS)
        assert page.evaluate("document.querySelector('canvas').width") == 64
        page.locator("#gpu-canvas").click()
        expect(said).to_have_text("now 0.50", timeout=PATIENCE_MS)
        assert page.evaluate("crossOriginIsolated") is False
        assert strangers == []
