"""JupyterLite with our wheel in it, as tools/jupyterlite builds it, on a plain static host."""

from __future__ import annotations

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

expect.set_options(timeout=GLANCE_MS)

_SLIDER = """
%pip install ipywidgets
from ipywidgets import interact
@interact(n=(1, 9))
def squares(n=3):
    print("sum", int(bg.sum(bg.arange(n + 1) ** 2)))
"""


@dataclass
class JupyterLite:
    """A notebook in JupyterLite, as a person uses it."""

    page: Page
    strangers: list[str] = field(default_factory=list)  # what was asked of other hosts

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-CodeCell")

    def menu(self, name: str, entry: str) -> None:
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-item").get_by_text(entry, exact=True).click()

    def output(self, index: int) -> Locator:
        return self.cells.nth(index).locator(".jp-OutputArea-output")

    def run_below(self, code: str) -> int:
        """Run code in a new cell at the end; gives its index."""
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
    """The notebook that the site begins with, shared by the tests: its kernel takes seconds."""
    folder = ensure_site(Layout(), prepare(), CONTENTS, Progress())
    found: list[str] = []
    with static_host(folder) as url:
        # So tall that no cell is out of sight: JupyterLab takes those out of the document.
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


def test_its_notebook_computes_shows_a_picture_and_plots(notebook: JupyterLite) -> None:
    notebook.menu("Run", "Run All Cells")
    installed, name, computed, picture, plot = (notebook.output(i) for i in range(5))
    expect(name).to_have_text("'google swiftshader'", timeout=PATIENCE_MS)
    expect(computed).to_have_text("as NumPy has it", timeout=PATIENCE_MS)
    size = "image => [image.naturalWidth, image.naturalHeight]"
    assert picture.locator("img").evaluate(size) == [360, 240]
    assert plot.locator("img").evaluate(size)[0] > 300
    expect(installed).to_have_count(0)  # nothing to complain of
    assert notebook.page.evaluate("crossOriginIsolated") is False
    assert notebook.strangers == []


def test_a_slider_of_ipywidgets_computes_on_the_gpu(notebook: JupyterLite) -> None:
    output = notebook.output(notebook.run_below(_SLIDER))
    expect(output.get_by_text("sum 14")).to_be_visible(timeout=PATIENCE_MS)
    slider = output.get_by_role("slider")
    slider.focus()
    slider.press("ArrowRight")
    expect(output.get_by_text("sum 30")).to_be_visible(timeout=PATIENCE_MS)
    assert notebook.strangers == []


def test_draw_says_that_there_is_no_canvas(notebook: JupyterLite) -> None:
    output = notebook.output(notebook.run_below("bg.draw(waves)"))
    expect(output).to_contain_text("InvalidArgument: draw: canvas_id", timeout=PATIENCE_MS)
    expect(output).to_contain_text("browsergpuCanvases")
