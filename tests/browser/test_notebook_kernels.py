"""Each notebook of a tab has its own kernel."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from harness.notebook import NotebookPage
from playwright.sync_api import Locator, Page, expect


@pytest.fixture
def opened(new_page: Callable[..., Page], site_url: str) -> NotebookPage:
    """A page of its own, since its kernels would be in the way of other tests."""
    notebook = NotebookPage(new_page(visited=True), site_url)
    notebook.open()
    begin(notebook, "first")
    return notebook


def begin(notebook: NotebookPage, title: str) -> None:
    """Press New, and give the notebook a name."""
    notebook.press("New")
    expect(notebook.cells).to_have_count(1)
    name = notebook.page.get_by_label("Notebook name")
    name.fill(title)
    name.press("Tab")
    notebook.close_messages()


def kept(notebook: NotebookPage) -> Locator:
    notebook.press("Notebooks")
    return notebook.page.get_by_role("dialog", name="Notebooks in this browser")


def go_to(notebook: NotebookPage, title: str) -> None:
    """Open a notebook of the list."""
    kept(notebook).get_by_role("button", name=title, exact=True).click()
    expect(notebook.page.get_by_label("Notebook name")).to_have_value(title)
    notebook.close_messages()


def others(notebook: NotebookPage) -> Locator:
    return notebook.page.locator("footer [data-ref=other-kernels]")


def show_panel(notebook: NotebookPage, name: str) -> Locator:
    notebook.page.get_by_role("tab", name=name).click()
    return notebook.page.get_by_role("tabpanel", name=name)


def test_variables_counts_and_panels_belong_to_their_notebook(opened: NotebookPage) -> None:
    notebook = opened
    expect(others(notebook)).to_be_hidden()
    notebook.run("mine = 'of the first'")
    panel = show_panel(notebook, "Variables")
    expect(panel).to_contain_text("mine")
    begin(notebook, "second")
    expect(notebook.run("mine").locator(".output-traceback")).to_contain_text("NameError")
    expect(notebook.cell(0).locator(".cell-count")).to_have_text("[1]")
    expect(panel).not_to_contain_text("mine")
    notebook.run("other = 2")
    expect(panel).to_contain_text("other")
    expect(notebook.page.locator("footer")).to_contain_text("Kernel of “second”")
    expect(others(notebook)).to_have_text("1 idle kernel")
    go_to(notebook, "first")
    expect(panel).to_contain_text("mine")
    expect(panel).not_to_contain_text("other")
    expect(notebook.run("mine")).to_have_text("'of the first'")
    expect(notebook.cell(1).locator(".cell-count")).to_have_text("[2]")
    times = show_panel(notebook, "GPU")
    expect(times.get_by_role("region", name="Times of the last cells")).to_contain_text("[2]")


def test_a_cell_goes_on_in_a_notebook_that_is_not_shown(opened: NotebookPage) -> None:
    notebook = opened
    index = notebook.start(
        "import asyncio, os\nprint('before')\n"
        "while not os.path.exists('go.txt'):\n    await asyncio.sleep(0.01)\n"
        "os.remove('go.txt')\nprint('after')\n'done'"
    )
    notebook.start("'the next'")
    expect(notebook.output(index)).to_have_text("before\n")
    begin(notebook, "second")
    # The new notebook does not wait for the other one's cell.
    expect(notebook.run("1 + 1")).to_have_text("2")
    notebook.wait_idle()
    expect(others(notebook)).to_have_text("“first” runs")
    go_to(notebook, "first")
    notebook.wait_state("busy")
    expect(notebook.cell(index)).to_have_attribute("data-state", "running")
    expect(notebook.output(index)).to_have_text("before\n")
    notebook.drop([{"name": "go.txt", "type": "", "bytes": [1]}])
    notebook.wait_finished()
    expect(notebook.output(index).locator("pre")).to_have_text(["before\nafter\n", "'done'"])
    expect(notebook.output(index + 1)).to_have_text("'the next'")


def test_outputs_of_a_notebook_that_is_not_shown_are_kept(opened: NotebookPage) -> None:
    notebook = opened
    index = notebook.start(
        "import asyncio\nfor step in range(3):\n    await asyncio.sleep(0.5)\n"
        "    print('step', step)\nprint('end')"
    )
    notebook.wait_state("busy")
    begin(notebook, "second")
    expect(others(notebook)).to_have_text("“first” runs")
    expect(others(notebook)).to_have_text("1 idle kernel")
    with notebook.page.expect_download() as download:
        dialog = kept(notebook)
        dialog.get_by_role("button", name="Download “first”").click()
    assert "end" in download.value.path().read_text()
    notebook.page.keyboard.press("Escape")
    notebook.page.reload()
    go_to(notebook, "first")
    expect(notebook.output(index)).to_contain_text("step 2\nend")


def test_controls_and_displays_belong_to_their_kernel(opened: NotebookPage) -> None:
    notebook = opened
    slider = (
        "import ipywidgets\nslider = ipywidgets.IntSlider(value={}, description='n')\n"
        "shown = display({}, display_id='same')\ndisplay(slider)"
    )
    notebook.run(slider.format(1, "'a'"))
    begin(notebook, "second")
    notebook.run(slider.format(7, "'b'"))
    notebook.run("shown.update('changed')\nslider.value = 9")
    expect(notebook.output(0)).to_contain_text("changed")
    go_to(notebook, "first")
    expect(notebook.output(0)).to_contain_text("'a'")
    field = notebook.output(0).frame_locator("iframe").get_by_role("slider", name="n")
    expect(field).to_have_attribute("aria-valuenow", "1.0")
    field.focus()
    notebook.page.keyboard.press("ArrowRight")
    notebook.wait_idle()
    expect(notebook.run("slider.value")).to_have_text("2")
    go_to(notebook, "second")
    expect(notebook.run("slider.value")).to_have_text("9")


def test_a_kernel_ends_with_its_button_and_the_notebook_stays(opened: NotebookPage) -> None:
    notebook = opened
    notebook.start("print('begun')\nwhile True: pass")
    expect(notebook.output(0)).to_contain_text("begun")
    begin(notebook, "second")
    dialog = kept(notebook)
    row = dialog.locator("li").filter(has_text="first")
    expect(row).to_contain_text("its kernel runs")
    row.get_by_role("button", name="End kernel “first”").click()
    expect(row).not_to_contain_text("its kernel")
    notebook.page.keyboard.press("Escape")
    expect(others(notebook)).to_be_hidden()
    go_to(notebook, "first")
    expect(notebook.output(0)).to_contain_text("begun")
    expect(notebook.output(0)).to_contain_text("The kernel was ended")
    expect(notebook.run("2 + 3")).to_have_text("5")


def test_a_notebook_without_variables_passes_its_kernel_on(opened: NotebookPage) -> None:
    notebook = opened
    for title in ("second", "third"):
        begin(notebook, title)
        expect(others(notebook)).to_be_hidden()
    notebook.run("kept = 1")
    notebook.choose("New notebook with this kernel")
    expect(notebook.cells).to_have_count(1)
    expect(notebook.run("kept")).to_have_text("1")
    expect(others(notebook)).to_be_hidden()


def test_the_page_asks_before_a_fourth_idle_kernel_ends(opened: NotebookPage) -> None:
    notebook = opened
    notebook.run("precious = 1")
    for title in ("second", "third", "fourth"):
        begin(notebook, title)
        notebook.run("x = 1" if title != "third" else "1 + 1")
    expect(others(notebook)).to_have_text("3 idle kernels")
    notebook.press("New")
    question = notebook.page.get_by_role("dialog", name="End an idle kernel?")
    expect(question).to_contain_text(re.compile("The kernel of “first” .* 1 variable,"))
    question.get_by_role("button", name="Keep it").click()
    expect(others(notebook)).to_have_text("4 idle kernels")
    notebook.run("y = 1")
    notebook.press("New")
    expect(question).to_contain_text("The kernel of “second”")
    question.get_by_role("button", name="End it").click()
    expect(others(notebook)).to_have_text("4 idle kernels")
    go_to(notebook, "first")
    expect(notebook.run("precious")).to_have_text("1")
