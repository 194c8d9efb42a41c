"""Habits from Jupyter: its keys, find and replace, and a page that does not jump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from playwright.sync_api import Locator, expect


@pytest.fixture(scope="module")
def shared(lab: Lab) -> Iterator[tuple[NotebookPage, list[str]]]:
    with open_notebook(lab, viewport={"width": 1024, "height": 700}) as opened:
        yield opened


def press(notebook: NotebookPage, *keys: str) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)


def write_cells(notebook: NotebookPage, *sources: str) -> None:
    """Write cells with the given texts; the first gets the focus."""
    notebook.fill(0, sources[0])
    for source in sources[1:]:
        press(notebook, "Escape", "b", "Enter")
        notebook.page.keyboard.insert_text(source)
    notebook.page.keyboard.press("Escape")
    for _ in sources[1:]:
        notebook.page.keyboard.press("k")
    expect(notebook.cell(0)).to_be_focused()


def shown(place: Locator) -> dict[str, float]:
    """Return the distances of an element's edges from the visible area between the page's bars."""
    return place.evaluate(
        """(one) => {
          const { top, bottom } = one.getBoundingClientRect();
          const first = document.querySelector(".masthead").getBoundingClientRect().bottom;
          const last = document.querySelector(".status").getBoundingClientRect().top;
          return { top: top - first, bottom: last - bottom };
        }"""
    )


IN_VIEW = """(one) => {
  const { top, bottom } = one.getBoundingClientRect();
  const first = document.querySelector(".masthead").getBoundingClientRect().bottom;
  const last = document.querySelector(".status").getBoundingClientRect().top;
  return top >= first && bottom <= last;
}"""


def wait_in_view(notebook: NotebookPage, place: Locator) -> None:
    """Wait until an element is completely visible between the page's bars."""
    notebook.page.wait_for_function(IN_VIEW, arg=place.element_handle())


def test_cells_are_copied_cut_pasted_and_selected_as_in_jupyter(notebook: NotebookPage) -> None:
    # A new notebook's cell and a cell added by the toolbar have the focus.
    notebook.press("New")
    expect(notebook.editor(0)).to_be_focused()
    notebook.press("Text")
    expect(notebook.editor(1)).to_be_focused()
    press(notebook, "Escape", "d", "d")
    write_cells(notebook, "one", "two", "three")
    press(notebook, "c", "v")
    assert notebook.sources() == ["one", "one", "two", "three"]
    expect(notebook.cell(1)).to_be_focused()
    press(notebook, "z")
    assert notebook.sources() == ["one", "two", "three"]
    # With two cells, Shift selects, x cuts and Shift+V pastes above.
    notebook.cell(0).focus()
    press(notebook, "Shift+J")
    expect(notebook.page.locator(".cell.selected")).to_have_count(2)
    press(notebook, "x")
    assert notebook.sources() == ["three"]
    expect(notebook.cell(0)).to_be_focused()
    press(notebook, "Shift+V")
    assert notebook.sources() == ["one", "two", "three"]
    press(notebook, "z", "z")
    assert notebook.sources() == ["one", "two", "three"]
    # A plain arrow ends a selection. Selected cells are moved, changed and deleted together.
    notebook.cell(2).focus()
    press(notebook, "Shift+ArrowUp", "Alt+ArrowUp")
    assert notebook.sources() == ["two", "three", "one"]
    press(notebook, "m")
    for index, kind in enumerate(["markdown", "markdown", "code"]):
        expect(notebook.cell(index)).to_have_attribute("data-type", kind)
    press(notebook, "ArrowDown")
    expect(notebook.page.locator(".cell.selected")).to_have_count(0)
    press(notebook, "Control+a", "d", "d")
    assert notebook.sources() == [""]
    press(notebook, "z")
    assert notebook.sources() == ["two", "three", "one"]


def counts(notebook: NotebookPage) -> list[str]:
    return notebook.page.locator(".cell-count").all_inner_texts()


def test_selected_cells_run_together(notebook: NotebookPage) -> None:
    sources = ("order = ['a']", "order.append('b')", "print(order)", "order.append('last')")
    write_cells(notebook, *sources)
    press(notebook, "Shift+J", "Shift+J", "Shift+Enter")
    expect(notebook.editor(3)).to_be_focused()
    expect(notebook.page.locator(".cell.selected")).to_have_count(0)
    expect(notebook.output(2)).to_have_text("['a', 'b']")
    notebook.wait_finished()
    expect(notebook.cell(3).locator(".cell-count")).to_be_empty()
    # Ctrl+Enter keeps the focus and the selection; Alt+Enter adds a cell below.
    press(notebook, "Escape", "Shift+K", "Control+Enter")
    expect(notebook.cell(2)).to_be_focused()
    expect(notebook.cell(3).locator(".cell-count")).not_to_be_empty()
    notebook.wait_finished()
    expect(notebook.output(2)).to_have_text("['a', 'b']")
    press(notebook, "Alt+Enter")
    expect(notebook.output(2)).to_have_text("['a', 'b', 'last']")
    assert notebook.sources() == [*sources, ""]
    expect(notebook.editor(4)).to_be_focused()
    notebook.wait_finished()
    # The Run button runs the selected cells; an error stops the rest.
    notebook.fill(4, "1 / 0")
    notebook.press("Code")
    notebook.page.keyboard.insert_text("print('not reached')")
    press(notebook, "Escape", "Shift+K")
    notebook.press("Run")
    notebook.wait_finished()
    expect(notebook.output(4)).to_contain_text("ZeroDivisionError")
    expect(notebook.output(5)).to_be_empty()


def test_the_menu_runs_cells_above_or_below_or_all_again(notebook: NotebookPage) -> None:
    write_cells(
        notebook, "try: turns += 1\nexcept NameError: turns = 1\nturns", "'middle'", "'end'", ""
    )
    notebook.cell(1).focus()
    notebook.choose("Run all above selected cell")
    expect(notebook.output(0)).to_have_text("1")
    notebook.choose("Run all above selected cell")
    expect(notebook.output(0)).to_have_text("2")
    notebook.wait_finished()
    assert counts(notebook)[1:] == ["", "", ""]
    notebook.choose("Run selected cell and all below")
    expect(notebook.output(2)).to_have_text("'end'")
    expect(notebook.output(1)).to_have_text("'middle'")
    expect(notebook.output(0)).to_have_text("2")
    # Keys of a menu: arrows, Escape, and back to its button.
    more = notebook.page.get_by_role("button", name="More", exact=True)
    more.focus()
    press(notebook, "Enter")
    expect(notebook.page.get_by_role("menuitem").first).to_be_focused()
    press(notebook, "ArrowUp")
    expect(notebook.page.get_by_role("menuitem", name="All commands")).to_be_focused()
    press(notebook, "Escape")
    expect(more).to_be_focused()
    # A restart needs confirmation, as it loses variables. Then all cells run without them.
    notebook.choose("Restart and run all")
    expect(notebook.restart_question).to_contain_text("variables are lost")
    notebook.restart_question.get_by_role("button", name="Cancel").click()
    expect(notebook.run("turns")).to_have_text("2")
    notebook.choose("Restart and run all")
    press(notebook, "Enter")
    expect(notebook.page.locator(".cell-count")).to_have_text(["[1]", "[2]", "[3]", "[4]", ""])
    notebook.wait_finished()
    for index, shown in enumerate(["1", "'middle'", "'end'", "1"]):
        expect(notebook.output(index)).to_have_text(shown)


def test_pairs_of_keys_interrupt_and_restart_and_single_ones_convert_and_save(
    notebook: NotebookPage,
) -> None:
    notebook.start("mine = 1\nwhile True: pass")
    notebook.wait_state("busy")
    press(notebook, "Escape", "i", "j")  # a single i does nothing
    notebook.wait_state("busy")
    press(notebook, "i", "i")
    notebook.wait_idle()
    expect(notebook.output(0)).to_contain_text("KeyboardInterrupt")
    for key, kind in {"r": "raw", "m": "markdown", "y": "code"}.items():
        press(notebook, key)
        expect(notebook.cell(1)).to_have_attribute("data-type", kind)
    notebook.page.locator("#announcements").evaluate("(one) => { one.textContent = ''; }")
    press(notebook, "s")
    expect(notebook.page.locator("#announcements")).to_contain_text("kept in this browser")
    # Pressing 0 twice by mistake loses nothing.
    press(notebook, "0", "0")
    expect(notebook.restart_question).to_be_visible()
    press(notebook, "Escape")
    expect(notebook.cell(1)).to_be_focused()
    expect(notebook.run("mine")).to_have_text("1")
    press(notebook, "Escape", "0", "0", "Enter")
    notebook.wait_idle()
    expect(notebook.run("mine").locator(".output-traceback")).to_contain_text("NameError")


_LEAVE = "() => dispatchEvent(new Event('beforeunload', { cancelable: true }))"


def test_leaving_while_a_cell_runs_is_asked(notebook: NotebookPage) -> None:
    notebook.start("while True: pass")
    notebook.wait_state("busy")
    with notebook.page.expect_event("dialog") as asked:
        # Do not wait for the reload: it waits for the dialog's answer.
        notebook.page.once("dialog", lambda dialog: dialog.dismiss())
        notebook.page.evaluate("() => { setTimeout(() => location.reload()); }")
    assert asked.value.type == "beforeunload"
    expect(notebook.cell(0)).to_have_attribute("data-state", "running")
    press(notebook, "Escape", "i", "i")
    notebook.wait_idle()
    assert notebook.page.evaluate(_LEAVE), "nothing runs: nothing is asked"


def test_outputs_that_were_cleared_or_converted_come_back(notebook: NotebookPage) -> None:
    expect(notebook.run("print('printed')\n6 * 7")).to_contain_text("42")
    count = counts(notebook)[0]
    both = ["printed\n", "42"]
    shown = notebook.output(0).locator("pre")
    # Undo with the message's button, and with z.
    notebook.choose("Clear outputs")
    expect(shown).to_have_count(0)
    assert counts(notebook)[0] == ""
    notebook.messages.get_by_role("button", name="Undo").click()
    expect(shown).to_have_text(both)
    assert counts(notebook)[0] == count
    notebook.choose("Clear outputs")
    expect(shown).to_have_count(0)
    notebook.cell(0).focus()
    press(notebook, "z")
    expect(shown).to_have_text(both)
    # To text and back, to a heading, several at once: z undoes step by step.
    press(notebook, "m", "y")
    expect(shown).to_have_count(0)
    press(notebook, "z", "z")
    expect(notebook.cell(0)).to_have_attribute("data-type", "code")
    expect(shown).to_have_text(both)
    press(notebook, "2")
    expect(notebook.cell(0).get_by_role("heading", level=2)).to_be_visible()
    notebook.cell(0).focus()
    press(notebook, "z")
    assert notebook.source(0) == "print('printed')\n6 * 7"
    expect(shown).to_have_text(both)
    assert counts(notebook)[0] == count
    press(notebook, "Control+a", "m", "z")
    for index in range(2):
        expect(notebook.cell(index)).to_have_attribute("data-type", "code")
    expect(shown).to_have_text(both)
    # Undo does not replace the output of a later run.
    notebook.choose("Clear outputs")
    notebook.cell(0).focus()
    press(notebook, "Control+Enter")
    notebook.wait_finished()
    press(notebook, "z")
    expect(shown).to_have_text(both)
    assert counts(notebook)[0] not in ("", count)


def test_undo_restores_all_output_of_a_running_cell(
    notebook: NotebookPage,
) -> None:
    notebook.start("print('before')\ninput()\nprint('after')")
    expect(notebook.output(0)).to_contain_text("before")
    notebook.choose("Clear outputs")
    expect(notebook.output(0)).to_be_empty()
    notebook.cell(0).locator(".cell-input input").focus()
    press(notebook, "Enter")
    notebook.wait_finished()
    expect(notebook.output(0)).to_contain_text("after")
    expect(notebook.output(0)).not_to_contain_text("before")
    notebook.cell(0).focus()
    press(notebook, "z")
    expect(notebook.output(0)).to_have_text(re.compile("before.*after", re.DOTALL))


AT_END = "(pre) => pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2"
LONG = "(pre) => pre.scrollHeight > pre.clientHeight + 100"


def wait_at_end(notebook: NotebookPage, pre: Locator) -> None:
    expect(pre).to_have_count(1)
    notebook.page.wait_for_function(AT_END, arg=pre.element_handle())
    assert pre.evaluate(LONG), "it has more lines than are seen at once"


def test_long_output_follows_its_end_unless_its_reader_scrolled_up(
    notebook: NotebookPage,
) -> None:
    index = notebook.start(
        "import sys\nfor turn in range(3):\n"
        "    for i in range(200): print(turn, i)\n    print('end', turn)\n"
        "    await ainput()"
    )
    pre = notebook.output(index).locator("pre").first
    expect(pre).to_contain_text("end 0")
    wait_at_end(notebook, pre)
    # After scrolling up, the output stays there.
    pre.hover()
    notebook.page.mouse.wheel(0, -600)
    notebook.page.wait_for_function(f"(pre) => !({AT_END})(pre)", arg=pre.element_handle())
    notebook.page.wait_for_function(  # the browser may scroll smoothly
        "async (pre) => { const { scrollTop } = pre; "
        "await new Promise((next) => setTimeout(next, 200)); return pre.scrollTop === scrollTop; }",
        arg=pre.element_handle(),
    )
    place = pre.evaluate("(pre) => pre.scrollTop")
    notebook.cell(index).locator(".cell-input input").focus()
    press(notebook, "Enter")
    expect(pre).to_contain_text("end 1")
    notebook.page.evaluate("() => new Promise((next) => requestAnimationFrame(() => "
                           "requestAnimationFrame(next)))")  # fmt: skip
    assert pre.evaluate("(pre) => pre.scrollTop") == place
    # At the end, it follows new output again.
    pre.focus()
    press(notebook, "End")
    wait_at_end(notebook, pre)
    notebook.cell(index).locator(".cell-input input").focus()
    press(notebook, "Enter")
    expect(pre).to_contain_text("end 2")
    wait_at_end(notebook, pre)
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_a_cell_is_split_and_merged(notebook: NotebookPage) -> None:
    output = notebook.run("a = 1\nb = 2\na + b")
    expect(output).to_have_text("3")
    count = counts(notebook)[0]
    notebook.editor(0).click()
    press(notebook, "Control+Home", "ArrowDown", "Control+Shift+Minus")
    assert notebook.sources() == ["a = 1", "b = 2\na + b", ""]
    expect(notebook.editor(1)).to_be_focused()
    # The output belongs to the second half.
    expect(notebook.output(0)).to_be_empty()
    expect(notebook.output(1)).to_have_text("3")
    press(notebook, "Escape", "k", "Shift+M")
    assert notebook.sources() == ["a = 1\n\nb = 2\na + b", ""]
    expect(notebook.cell(0)).to_be_focused()
    press(notebook, "z", "z")
    assert notebook.sources() == ["a = 1\nb = 2\na + b", ""]
    expect(notebook.output(0)).to_have_text("3")
    assert counts(notebook)[0] == count


def test_line_numbers_folded_output_headings_and_help(notebook: NotebookPage) -> None:
    notebook.run("print('much')")
    press(notebook, "Escape", "k", "l")
    expect(notebook.cell(0).locator(".cm-lineNumbers")).to_contain_text("1")
    expect(notebook.cell(1).locator(".cm-lineNumbers")).to_have_count(0)
    press(notebook, "Shift+L", "Shift+L")
    expect(notebook.page.locator(".cm-lineNumbers")).to_have_count(2)
    press(notebook, "o")
    expect(notebook.output(0)).to_be_hidden()
    notebook.cell(0).get_by_role("button", name="Show the output").click()
    expect(notebook.output(0)).to_have_text("much")
    notebook.cell(1).focus()
    press(notebook, "2")
    notebook.page.keyboard.insert_text("Chapter")
    press(notebook, "Control+Enter")
    expect(notebook.cell(1).get_by_role("heading", level=2)).to_have_text("Chapter")
    press(notebook, "h")
    dialog = notebook.page.get_by_role("dialog")
    expect(dialog).to_contain_text("merge with the next")
    press(notebook, "Escape")
    expect(dialog).to_be_hidden()


def test_folded_outputs_stay_folded_in_a_reopened_notebook(
    notebook: NotebookPage,
) -> None:
    notebook.run("print('much')")
    press(notebook, "Escape", "k", "o")
    expect(notebook.page.locator("footer")).to_contain_text("Kept in this browser")
    notebook.page.reload()
    expect(notebook.output(0)).to_be_hidden()
    expect(notebook.cell(0).get_by_role("button", name="Show the output")).to_be_visible()
    notebook.wait_idle()


def test_find_and_replace_in_a_cell(notebook: NotebookPage) -> None:
    notebook.fill(0, "old = 1\nolder = old + 2")
    press(notebook, "Control+f")
    notebook.page.keyboard.type("old")
    expect(notebook.cell(0).locator(".cm-searchMatch")).to_have_count(3)
    notebook.cell(0).get_by_label("by word").check()
    expect(notebook.cell(0).locator(".cm-searchMatch")).to_have_count(2)
    notebook.cell(0).get_by_label("Replace", exact=True).fill("new")
    notebook.cell(0).get_by_role("button", name="replace all").click()
    assert notebook.source(0) == "new = 1\nolder = new + 2"
    # Escape first closes the search, then leaves the editor. f opens the search from the cell.
    notebook.editor(0).click()
    press(notebook, "Escape")
    expect(notebook.cell(0).locator(".cm-search")).to_have_count(0)
    expect(notebook.editor(0)).to_be_focused()
    press(notebook, "Escape", "f")
    expect(notebook.cell(0).get_by_label("Find", exact=True)).to_be_focused()
    press(notebook, "Escape", "Escape")
    expect(notebook.cell(0)).to_be_focused()


def test_the_focused_cell_and_fresh_output_stay_in_view(notebook: NotebookPage) -> None:
    for index in range(9):
        notebook.start(f"for i in range(9):\n    print({index}, i)")
        wait_in_view(notebook, notebook.editor(index + 1))
    notebook.wait_finished()
    last = notebook.cells.count() - 1
    wait_in_view(notebook, notebook.editor(last))
    wait_in_view(notebook, notebook.output(last - 1))
    # If the focus stays in the cell, the new output scrolls into view below it.
    notebook.fill(last, "for i in range(14):\n    print(i)")
    press(notebook, "Control+Enter")
    notebook.wait_finished()
    wait_in_view(notebook, notebook.output(last))
    wait_in_view(notebook, notebook.editor(last))
    # With new lines at the bottom, the cursor stays above the bar.
    press(notebook, "Control+End", *["Enter"] * 12)
    wait_in_view(notebook, notebook.cell(last).locator(".cm-cursor-primary"))
    # Move up with the keys, below the sticky bar.
    press(notebook, "Escape")
    for index in range(last - 1, -1, -1):
        press(notebook, "ArrowUp")
        assert shown(notebook.editor(index))["top"] >= 0
    # If the user scrolls away from a running cell, the page stays there.
    notebook.fill(
        last, "import asyncio\ngate = asyncio.Event()\nawait gate.wait()\nprint('\\n' * 9)"
    )
    press(notebook, "Control+Enter")
    notebook.wait_state("busy")
    notebook.page.mouse.move(300, 300)
    notebook.page.mouse.wheel(0, -20_000)
    notebook.page.wait_for_function("scrollY === 0")
    notebook.press("Interrupt")
    notebook.wait_finished()
    expect(notebook.output(last)).to_contain_text("KeyboardInterrupt")
    assert notebook.page.evaluate("scrollY") == 0


def test_arrow_keys_walk_toolbars_which_are_one_stop_each(notebook: NotebookPage) -> None:
    bar = notebook.page.get_by_role("toolbar", name="Run")
    run = bar.get_by_role("button", name="Run", exact=True)
    run.focus()
    press(notebook, "ArrowRight")
    expect(bar.get_by_role("button", name="Run all")).to_be_focused()
    press(notebook, "ArrowRight")  # Interrupt is disabled
    expect(bar.get_by_role("button", name="Restart")).to_be_focused()
    press(notebook, "End")
    expect(bar.get_by_role("button", name="More")).to_be_focused()
    press(notebook, "ArrowRight")
    expect(run).to_be_focused()
    press(notebook, "Tab")
    expect(bar.locator(":focus")).to_have_count(0)
    press(notebook, "Shift+Tab")
    expect(run).to_be_focused()
    notebook.cell(0).get_by_role("button", name="Move this cell up").focus()
    press(notebook, "ArrowRight")
    expect(notebook.cell(0).get_by_role("button", name="Move this cell down")).to_be_focused()


def test_code_has_room_at_1024(notebook: NotebookPage) -> None:
    width = notebook.cell(0).locator(".cell-editor").bounding_box()["width"]  # type: ignore[index]
    assert width > 640
    assert notebook.page.evaluate("document.scrollingElement.scrollWidth") <= 1024


SMALL = """(least) => [...document.querySelectorAll("button, .title-input")]
  .filter((one) => one.checkVisibility() && !one.matches("p .link"))
  .map((one) => [one.ariaLabel || one.textContent.trim(), one.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < least - 0.5 || height < least - 0.5))
  .map(([name, { width, height }]) => `${name} ${width} x ${height}`)"""


def test_fingers_reach_everything_on_a_phone(lab: Lab, page_problems: list[str]) -> None:
    phone = lab.new_page(
        page_problems.append, visited=True,
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True,
    )  # fmt: skip
    notebook = NotebookPage(phone, lab.site_url)
    phone.goto(notebook.url)
    expect(notebook.cell(0).locator("h1")).to_be_visible()
    for name in ("Run", "Interrupt", "More"):
        button = phone.get_by_role("toolbar", name="Run").get_by_role(
            "button", name=name, exact=True
        )
        expect(button).to_be_in_viewport(ratio=1)
    # The header is one row: the notebook's name, the buttons and the menu.
    menu = phone.get_by_role("button", name="Menu", exact=True)
    name = phone.get_by_label("Notebook name")
    run = phone.get_by_role("toolbar", name="Run").get_by_role("button", name="Run", exact=True)
    boxes = [place.bounding_box() or {} for place in (name, run, menu)]
    for left, right in pairwise(boxes):
        assert left["y"] + left["height"] > right["y"]
        assert left["x"] + left["width"] <= right["x"]
    notebook.wait_idle()
    header = phone.locator("header").bounding_box()
    assert header
    assert header["height"] <= 60
    expect(phone.get_by_role("toolbar", name="Notebook file")).to_be_hidden()
    menu.tap()
    phone.get_by_role("menuitem", name="New", exact=True).tap()
    expect(name).to_have_value("untitled")
    notebook.close_messages()
    before = notebook.cells.count()
    phone.get_by_role("button", name="More", exact=True).tap()
    phone.get_by_role("menuitem", name="Add code cell").tap()
    expect(notebook.cells).to_have_count(before + 1)
    expect(notebook.page.locator(".cm-focused")).to_have_count(1)
    # The panels open above the status bar, and leave when a cell is edited.
    panels = phone.get_by_role("button", name="Panels")
    files = phone.get_by_role("tabpanel", name="Files")
    expect(files).to_be_hidden()
    panels.tap()
    expect(files.get_by_role("button", name="choose files")).to_be_in_viewport(ratio=1)
    assert phone.evaluate(SMALL, 44) == []
    notebook.editor(before).tap()
    expect(files).to_be_hidden()
    assert phone.evaluate(SMALL, 44) == []
    assert phone.evaluate("document.scrollingElement.scrollWidth") <= 390
    # A screen keyboard sends text without key events.
    place = phone.evaluate("[...document.querySelectorAll('.cell')].findIndex("
                           "(cell) => cell.contains(document.activeElement))")  # fmt: skip
    notebook.editor(place).tap()
    phone.keyboard.insert_text("print('told')\n6 * 7")
    phone.get_by_role("toolbar", name="Run").get_by_role("button", name="Run", exact=True).tap()
    result = notebook.output(place).locator(".execute_result")
    expect(result).to_have_text("42")
    expect(result).to_be_in_viewport(ratio=1)
    # The menu is within reach too.
    phone.get_by_role("button", name="More", exact=True).tap()
    for entry in phone.get_by_role("menuitem").all():
        expect(entry).to_be_in_viewport(ratio=1)
    assert phone.evaluate(SMALL, 44) == []
    phone.get_by_role("menuitem", name="Clear outputs").tap()
    expect(notebook.output(place)).to_be_empty()
    phone.context.close()


def test_a_light_shows_the_gpus_work_which_counts_into_the_cells_time(
    notebook: NotebookPage,
) -> None:
    notebook.page.evaluate(
        """() => {
          const light = document.querySelector(".gpu-light");
          window.lights = [];
          new MutationObserver(() => window.lights.push(light.textContent))
            .observe(light, { childList: true });
        }"""
    )
    index = notebook.start(
        "import browsergpu as bg\nx = bg.ones((256, 256))\n"
        "for _ in range(5):\n    x = (x @ x) / 256"
    )
    notebook.page.wait_for_function("lights.includes('GPU working') && lights.at(-1) === ''")
    timing = notebook.cell(index).locator(".cell-timing")
    expect(timing).to_have_attribute("title", re.compile("Python .+, then the GPU .+"))
    # The next run does not include this time.
    index = notebook.start("float(x[0, 0])")
    notebook.wait_finished()
    expect(notebook.output(index)).to_have_text("1.0")
    expect(notebook.page.locator("footer .gpu-light")).to_be_empty()


def test_a_stopped_server_is_named_when_restart_fails(
    shared: tuple[NotebookPage, list[str]],
) -> None:
    notebook, problems = shared
    notebook.fresh()
    notebook.fill(0, "mine = 1")
    notebook.page.context.set_offline(True)
    notebook.restart()
    message = notebook.messages.filter(has_text="does not answer")
    expect(message).to_contain_text(notebook.url)
    expect(message).to_contain_text("serve.py")
    assert notebook.sources() == ["mine = 1"]
    notebook.page.context.set_offline(False)
    message.get_by_role("button", name="Restart").click()
    notebook.wait_idle()
    expect(notebook.run("1 + 1")).to_have_text("2")
    problems.clear()  # messages of the browser about files that it could not load
