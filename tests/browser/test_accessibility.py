"""axe-core finds no serious problem in the notebook, its dialogs and panels, or other pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness.accessibility import find_serious, find_serious_in_frames
from harness.notebook import NotebookPage, hold_kernels
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.all

PROSE = """# A heading

Text with `code`, a [link](https://example.org), a formula $x^2$ and a box:

- [ ] to do

| wide | table |
| --- | --- |
| 1 | 2 |

```python
print("a block of code that is wide, wider than any screen of", "a telephone, to be scrolled")
```

$$ 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 $$
"""

# Widgets of ipywidgets, in their frame.
CONTROLS = """import ipywidgets
from ipywidgets import HBox, VBox
VBox([
    HBox([ipywidgets.IntSlider(description="sigma"), ipywidgets.FloatSlider()]),
    ipywidgets.Text(description="name"), ipywidgets.IntText(),
    ipywidgets.Checkbox(description="on"), ipywidgets.Dropdown(options=["one", "two"]),
    ipywidgets.Button(description="Go"),
    ipywidgets.Button(description="Off", disabled=True),
    ipywidgets.IntProgress(value=3, description="done"), ipywidgets.Label("told"),
    ipywidgets.HTML("<b>shown</b>"),
    ipywidgets.Textarea("lines"), ipywidgets.IntRangeSlider(description="between"),
    ipywidgets.RadioButtons(options=["one", "two"], description="one of"),
    ipywidgets.ToggleButtons(options=["one", "two"]), ipywidgets.ToggleButton(value=True),
    ipywidgets.Play(), ipywidgets.Accordion([ipywidgets.Label("in")], selected_index=0),
    ipywidgets.Tab([ipywidgets.Label("first"), ipywidgets.Label("second")], titles=["a", "b"]),
])"""

# Each text colour on each background colour, on stdout and stderr.
COLOURS = """for name in ("stdout", "stderr"):
    for bold in (0, 1):
        for ink in (39, *range(30, 38), *range(90, 98)):
            line = "".join(f"\\x1b[{bold};{ink};{ground}mtext" for ground in (49, *range(40, 48)))
            print(line, file=getattr(sys, name))"""

WIDE = "HTML('<table><tr>' + '<th>a column</th>' * 40 + '<tr>' + '<td>1</td>' * 40 + '</table>')"

# As Altair writes it. The site has the scripts.
CDN = "https://cdn.jsdelivr.net/npm"
SCRIPTS = ("vega@6?noext", "vega-lite@6.1.0?noext", "vega-embed@7?noext")
SPECIFICATION = """{title: "Bars", data: {values: [{a: 1, b: "x"}, {a: 2, b: "y"}]}, mark: "bar",
encoding: {x: {field: "b", type: "nominal"}, y: {field: "a", type: "quantitative"}}}"""
VEGA = (
    "".join(f'<script src="{CDN}/{name}"></script>' for name in SCRIPTS)
    + f'<div id="vis"></div><script>vegaEmbed("#vis", {SPECIFICATION})</script>'
)

OUTPUTS = {
    "a text": "import sys\nprint('told', 1, None)\nprint('warned', file=sys.stderr)",
    "a long text": "print('0123456789 ' * 2000)",
    "a result": "# a comment\nclass Kind:\n    def method(self): return 'text', 2.5\n{'k': [Kind]}",
    "colours": COLOURS,
    "an active output": "from IPython.display import HTML\nHTML('<script>1</script>shown')",
    "JavaScript": "from IPython.display import Javascript\nJavascript('1')",
    "a figure of Vega": f"HTML({VEGA!r})",
    "a traceback": "import json\njson.loads('{')",
    "a wide table": f"from IPython.display import HTML\n{WIDE}",
    "a picture": "from PIL import Image\nImage.new('RGB', (32, 32), 'red')",
    "what was drawn": "import browsergpu as bg\nbg.draw(bg.zeros((16, 16, 3)))",
    "controls": CONTROLS,
}


def assert_nothing_serious(page: Page) -> None:
    found = find_serious(page)
    assert not found, "axe-core found\n" + "\n\n".join(found)


def press(notebook: NotebookPage, *keys: str) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)


def test_the_tour(notebook: NotebookPage) -> None:
    notebook.press("Tour")
    expect(notebook.cells.nth(5)).to_be_visible()
    assert_nothing_serious(notebook.page)


def test_cells_with_outputs(notebook: NotebookPage) -> None:
    for code in OUTPUTS.values():
        notebook.run(code)
    last = notebook.cells.count() - 1
    notebook.cell(last).focus()
    press(notebook, "m", "Enter")
    notebook.page.keyboard.insert_text(PROSE)
    press(notebook, "Control+Enter")
    expect(notebook.cell(last).get_by_role("heading", name="A heading")).to_be_visible()
    assert_nothing_serious(notebook.page)
    for box in notebook.page.locator(".active-output, .widget-frame").all():
        box.scroll_into_view_if_needed()  # frames are made when they come into view
        expect(box.locator("iframe")).to_have_count(1)
    vega = notebook.page.frame_locator(".active-output iframe").nth(1)
    expect(vega.locator(".vega-embed summary")).to_have_count(1)
    controls = notebook.page.frame_locator(".widget-frame iframe")
    expect(controls.get_by_role("tab")).to_have_count(2)
    found = find_serious_in_frames(notebook.page)
    assert not found, "axe-core found\n" + "\n\n".join(found)
    # Two cells are selected, an output is folded, and lines have numbers.
    notebook.cell(1).focus()
    press(notebook, "o", "Shift+L", "Shift+J")
    expect(notebook.page.locator(".cell.selected")).to_have_count(2)
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape", "Shift+L")


def test_a_cell_that_runs_and_asks(notebook: NotebookPage) -> None:
    notebook.start("open('kept.txt', 'w').write('a file')\nprint('begun')\ninput('Name? ')")
    expect(notebook.page.get_by_label("Name?")).to_be_focused()
    assert_nothing_serious(notebook.page)
    press(notebook, "Enter")
    notebook.wait_finished()
    expect(notebook.page.get_by_role("list", name="Files in the kernel")).to_contain_text(
        "kept.txt"
    )
    assert_nothing_serious(notebook.page)


def test_a_list_of_completions_and_documentation(notebook: NotebookPage) -> None:
    notebook.fill(0, "import math\nmath.")
    press(notebook, "Control+Space")
    expect(notebook.page.locator(".cm-tooltip-autocomplete li[aria-selected]")).to_have_count(1)
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")
    notebook.fill(0, "len")
    press(notebook, "Shift+Tab")
    expect(notebook.page.locator(".documentation")).to_contain_text("Return the number of items")
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


def test_find_and_replace(notebook: NotebookPage) -> None:
    notebook.fill(0, "old = 1\ndef of(old): return 'old', 2.5 # old")
    press(notebook, "Control+f")
    notebook.page.keyboard.type("old")
    expect(notebook.cell(0).locator(".cm-searchMatch")).to_have_count(4)
    assert_nothing_serious(notebook.page)


@pytest.mark.parametrize("button", ["Gallery", "Keys"])
def test_dialogs(notebook: NotebookPage, button: str) -> None:
    notebook.press(button)
    expect(notebook.page.get_by_role("dialog")).to_be_visible()
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


def test_the_menu_and_the_restart_dialog(notebook: NotebookPage) -> None:
    notebook.run("1")
    notebook.press("More")
    expect(notebook.page.get_by_role("menu")).to_be_visible()
    assert_nothing_serious(notebook.page)
    notebook.page.get_by_role("menuitem", name="Restart and run all").click()
    expect(notebook.restart_question).to_be_visible()
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


def test_the_list_of_features(notebook: NotebookPage) -> None:
    notebook.page.locator("footer").get_by_role("button", name="features").click()
    expect(notebook.page.get_by_role("dialog").get_by_role("listitem")).not_to_have_count(0)
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


def test_the_list_of_notebooks(notebook: NotebookPage) -> None:
    for source in ("1", "2"):
        notebook.new()
        notebook.fill(0, source)
        notebook.wait_kept()
    notebook.press("Notebooks")
    dialog = notebook.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete “").last.click()
    expect(dialog.get_by_role("button", name="Undo")).to_be_visible()
    dialog.get_by_text("Deleted", exact=True).click()
    dialog.get_by_role("button", name="Rename “").first.click()
    expect(dialog.get_by_role("textbox")).to_be_focused()
    assert_nothing_serious(notebook.page)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_folded_headings(notebook: NotebookPage) -> None:
    notebook.cell(0).focus()
    press(notebook, "m", "Enter")
    notebook.page.keyboard.insert_text("# A heading")
    press(notebook, "Shift+Enter")
    notebook.cell(0).get_by_role("button", name="Hide the 1 cell under this heading").click()
    notebook.page.get_by_role("tab", name="Outline").click()
    fold = notebook.page.get_by_role("button", name="Cells under A heading")
    expect(fold).to_have_attribute("aria-expanded", "false")
    assert_nothing_serious(notebook.page)


def test_the_settings(notebook: NotebookPage) -> None:
    notebook.choose("Settings")
    expect(notebook.page.get_by_role("dialog", name="Settings")).to_be_visible()
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


def test_the_menu_of_the_narrow_header(notebook: NotebookPage) -> None:
    notebook.page.set_viewport_size({"width": 390, "height": 900})
    notebook.press("Menu")
    expect(notebook.page.get_by_role("menu", name="Notebook")).to_be_visible()
    assert find_serious(notebook.page, widths=(390,)) == []
    press(notebook, "Escape")
    notebook.page.set_viewport_size({"width": 1400, "height": 900})


def test_the_question_before_an_idle_kernel_ends(notebook: NotebookPage) -> None:
    for number in range(4):
        notebook.run(f"x = {number}")
        notebook.press("New")
        notebook.wait_idle()
    question = notebook.page.get_by_role("dialog", name="End an idle kernel?")
    expect(question).to_be_visible()
    assert_nothing_serious(notebook.page)
    question.get_by_role("button", name="End it").click()
    notebook.page.locator("footer").get_by_role("button", name="idle kernel").click()
    dialog = notebook.page.get_by_role("dialog", name="Notebooks in this browser")
    expect(dialog.get_by_role("button", name="End kernel").first).to_be_visible()
    assert_nothing_serious(notebook.page)
    press(notebook, "Escape")


@pytest.mark.provokes_errors
def test_messages(notebook: NotebookPage) -> None:
    notebook.run("1")
    notebook.cell(0).focus()
    press(notebook, "d", "d")
    notebook.drop([{"name": "no.ipynb", "type": "", "bytes": list(b"no notebook")}])
    expect(notebook.messages).to_have_count(2)
    assert_nothing_serious(notebook.page)
    notebook.close_messages()


def test_a_page_that_loads_its_kernel(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    hold_kernels(page)
    for address, there in {"/": "progress", "/?notebook=none": ".machine"}.items():
        page.goto(site_url + address)
        expect(page.locator(there)).to_be_visible()
        assert_nothing_serious(page)


def test_the_page_that_lists_missing_requirements(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page()
    page.add_init_script("delete WebAssembly.Suspending; delete Navigator.prototype.gpu")
    page.goto(f"{site_url}/")
    expect(page.locator("[data-problem]")).to_have_count(2)
    assert_nothing_serious(page)
