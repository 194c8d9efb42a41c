"""The unchanged notebook of docs/marimo.md, exported by marimo, on a plain static host."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from harness import problems
from harness.lab import Lab
from harness.marimo import Marimo
from harness.patience import PATIENCE_MS
from harness.static import static_host
from playwright.sync_api import expect

from devsite.layout import Layout
from devsite.site import prepare

pytestmark = pytest.mark.all

# marimo's page reports this if Python takes longer than 20 s to start, and keeps waiting.
SLOW = "RPC request timed out"


def test_the_notebook_computes_shows_an_image_and_follows_a_slider(
    tmp_path: Path, lab: Lab
) -> None:
    layout = Layout()
    text = (layout.repository / "docs" / "marimo.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    notebook = tmp_path / "notebook.py"
    notebook.write_text(code, encoding="utf-8")
    (tmp_path / "public").mkdir()
    shutil.copy2(prepare().wheel, tmp_path / "public")
    marimo = Marimo(layout)
    marimo.export(notebook, tmp_path / "site")

    with static_host(tmp_path / "site") as url:
        found: list[str] = []
        page = lab.new_page(found.append)
        strangers: list[str] = []
        page.context.route(
            lambda address: not address.startswith((url, "data:", "blob:")),
            lambda route: (strangers.append(route.request.url), route.abort()),
        )
        marimo.stand_in(page.context)
        page.goto(url)
        expect(page.get_by_text("google swiftshader")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.get_by_text("1: 1.00")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator("img")).to_have_js_property("naturalWidth", 360)
        expect(page.get_by_text("Array([0, 2, 4], shape=(3,)")).to_be_visible()
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("2: 1.00")).to_be_visible()
        assert page.evaluate("crossOriginIsolated") is False
        assert strangers == []
        page.context.close()
    problems.assert_none([problem for problem in found if SLOW not in problem])
