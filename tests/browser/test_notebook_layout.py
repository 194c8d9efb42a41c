"""How the page fits and shows outputs: narrow windows, wide text, standard error and messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from playwright.sync_api import expect

TOUCHED = """() => [...document.querySelectorAll("header button, header input, footer *")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.textContent || one.id, one.getBoundingClientRect()])
  .filter(([, { left, right, width }]) => width > 0 && (left < -0.5 || right > innerWidth + 0.5))
  .map(([name, { left, right }]) => `${name} from ${left} to ${right}`)"""


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    with open_notebook(lab) as (notebook, _):
        yield notebook


@pytest.fixture(autouse=True)
def fresh(notebook: NotebookPage) -> Iterator[None]:
    notebook.fresh()
    before = notebook.page.viewport_size
    yield
    notebook.page.set_viewport_size(before or {"width": 1280, "height": 720})


def test_a_narrow_window_does_not_scroll_sideways(notebook: NotebookPage) -> None:
    page = notebook.page
    page.set_viewport_size({"width": 768, "height": 1024})
    shown = notebook.run("print('word ' * 300)\nprint('x' * 2000)\n1 / 0")
    expect(shown).to_contain_text("ZeroDivisionError")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 768
    assert page.evaluate(TOUCHED) == []


def test_text_uses_the_width_of_its_cell(notebook: NotebookPage) -> None:
    notebook.page.set_viewport_size({"width": 1920, "height": 1000})
    shown = notebook.run("print('x' * 3000)")
    text = shown.locator("pre").bounding_box()
    editor = notebook.cell(0).locator(".cm-editor").bounding_box()
    assert text
    assert editor
    assert text["width"] > 0.95 * editor["width"]
    # The first line ends before the cell's time.
    time = notebook.cell(0).locator(".cell-timing").bounding_box()
    assert time
    first = shown.locator("pre").evaluate("""(one) => {
      const range = document.createRange();
      range.setStart(one.firstChild, 0);
      range.setEnd(one.firstChild, 40);
      return range.getClientRects()[0].right;
    }""")
    assert first < time["x"]
    # Lines break at the text's edge.
    ends = shown.locator("pre").evaluate("""(one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return Math.max(...[...range.getClientRects()].map(({ right }) => right))
        / one.getBoundingClientRect().right;
    }""")
    assert ends > 0.97


def test_standard_error_looks_like_text(notebook: NotebookPage) -> None:
    shown = notebook.run("import sys\nprint('plain')\nprint('a note', file=sys.stderr)")
    look = """(one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color]"""
    plain, note = (shown.locator(f".{name} pre").evaluate(look) for name in ("stdout", "stderr"))
    assert note == plain


def test_an_error_while_a_result_is_displayed_is_the_cells_error(notebook: NotebookPage) -> None:
    notebook.fill(
        0,
        """class Bad:
    def __repr__(self):
        raise ValueError("no text")
    _repr_html_ = __repr__
Bad()""",
    )
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("b")
    notebook.fill(1, "print('ran')")
    notebook.press("Run all")
    expect(notebook.output(0)).to_contain_text("ValueError: no text")
    notebook.wait_finished()
    expect(notebook.messages).to_contain_text("1 of 2 cells ran. The last one failed.")
    expect(notebook.output(1)).to_be_empty()
    assert notebook.output(0).locator(".error").count() == 1


def test_messages_of_another_notebook_do_not_stay(notebook: NotebookPage) -> None:
    notebook.run("print(1)")
    notebook.cell(0).click(position={"x": 4, "y": 4})
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("d")
    notebook.page.keyboard.press("d")
    expect(notebook.messages).to_contain_text("Cell deleted.")
    notebook.choose("New notebook with this kernel")
    expect(notebook.cells).to_have_count(1)
    expect(notebook.page.get_by_text("Cell deleted.")).to_have_count(0)
