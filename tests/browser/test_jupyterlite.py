"""JupyterLite with the project's wheel, built by tools/jupyterlite, on a plain static host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from harness import problems
from harness.lab import Lab
from harness.patience import GLANCE_MS, PATIENCE_MS
from harness.static import static_host
from playwright.sync_api import Locator, Page, expect

from devsite.layout import Layout
from devsite.progress import Progress
from devsite.site import prepare
from jupyterlite.build import CONTENTS, ensure_site

pytestmark = pytest.mark.all

expect.set_options(timeout=GLANCE_MS)

DOCS = Layout().repository / "docs" / "jupyterlite.md"


@dataclass
class JupyterLite:
    """A user's actions on a notebook in JupyterLite."""

    page: Page
    strangers: list[str] = field(default_factory=list)  # requests to other hosts

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-CodeCell")

    def menu(self, name: str, entry: str) -> None:
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-item").get_by_text(entry, exact=True).click()

    def output(self, index: int) -> Locator:
        return self.cells.nth(index).locator(".jp-OutputArea-output")

    def run_below(self, code: str) -> int:
        """Run code in a new cell at the end and return its index."""
        index = self.cells.count()
        self.cells.last.locator(".cm-content").click()
        for key in ("Escape", "b", "Enter"):
            self.page.keyboard.press(key)
        expect(self.cells).to_have_count(index + 1)
        self.page.keyboard.insert_text(code.strip())
        self.page.keyboard.press("Control+Enter")
        return index


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[JupyterLite]:
    """The notebook that the site starts with, shared because its kernel takes seconds to start."""
    folder = ensure_site(Layout(), prepare(), CONTENTS, Progress())
    found: list[str] = []
    with static_host(folder) as url:
        # Tall enough to show all cells: JupyterLab removes invisible cells from the document.
        page = lab.new_page(found.append, viewport={"width": 1024, "height": 3000})
        notebook = JupyterLite(page)
        page.context.on(
            "request",
            lambda request: (
                None if request.url.startswith((url, "data:", "blob:"))
                else notebook.strangers.append(request.url)
            ),
        )  # fmt: skip
        page.goto(f"{url}/notebooks/index.html?path=browsergpu.ipynb")
        expect(notebook.cells).to_have_count(5)
        yield notebook
        page.context.close()
    problems.assert_none(found)


def test_its_notebook_computes_shows_an_image_and_plots(notebook: JupyterLite) -> None:
    notebook.menu("Run", "Run All Cells")
    installed, name, computed, shown, plot = (notebook.output(i) for i in range(5))
    expect(name).to_have_text("'google swiftshader'", timeout=PATIENCE_MS)
    expect(computed).to_have_text("same as NumPy", timeout=PATIENCE_MS)
    size = "image => [image.naturalWidth, image.naturalHeight]"
    assert shown.locator("img").evaluate(size) == [360, 240]
    assert plot.locator("img").evaluate(size)[0] > 300
    expect(installed).to_have_count(0)  # no warning
    assert notebook.page.evaluate("crossOriginIsolated") is False
    assert notebook.strangers == []


def test_the_examples_of_images_and_sliders_in_its_page(notebook: JupyterLite) -> None:
    install, image, sliders = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    notebook.run_below(install)
    shown = notebook.output(notebook.run_below(image))
    expect(shown.locator("img")).to_be_visible(timeout=PATIENCE_MS)
    moved = notebook.output(notebook.run_below(sliders))
    expect(moved.get_by_text("14", exact=True)).to_be_visible(timeout=PATIENCE_MS)
    slider = moved.get_by_role("slider")
    slider.focus()
    slider.press("ArrowRight")
    expect(moved.get_by_text("30", exact=True)).to_be_visible()
    drawn = notebook.output(notebook.run_below("bg.draw(image)"))
    expect(drawn).to_contain_text("InvalidArgument: draw: canvas_id")
    expect(drawn).to_contain_text("browsergpuCanvases")
    assert notebook.strangers == []


def test_a_loop_without_end_is_ended_by_a_restart(notebook: JupyterLite) -> None:
    notebook.run_below("print('begun')\nwhile True: pass")
    expect(notebook.page.get_by_text("begun", exact=True)).to_be_visible()
    notebook.menu("Kernel", "Restart Kernel…")
    notebook.page.get_by_role("button", name="Confirm Kernel Restart").click()
    after = notebook.output(notebook.run_below("6 * 7"))
    expect(after).to_have_text("42", timeout=PATIENCE_MS)
