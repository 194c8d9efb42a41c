"""Cells: typing, running, outputs, completion, and use by keyboard alone."""

from __future__ import annotations

import json

import pytest
from harness.notebook import NotebookPage
from playwright.sync_api import Locator, expect


@pytest.mark.firefox
def test_a_cell_runs_and_the_next_one_opens(notebook: NotebookPage) -> None:
    notebook.editor(0).click()
    notebook.page.keyboard.type("6 * 7")
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.output(0)).to_have_text("42")
    expect(notebook.cell(0).locator(".cell-count")).to_have_text("[1]")
    expect(notebook.cell(0).locator(".cell-timing")).to_contain_text("s")
    expect(notebook.cells).to_have_count(2)
    expect(notebook.editor(1)).to_be_focused()


@pytest.mark.firefox
def test_control_enter_runs_and_stays(notebook: NotebookPage) -> None:
    notebook.fill(0, "'a' * 3")
    notebook.page.keyboard.press("Control+Enter")
    expect(notebook.output(0)).to_have_text("'aaa'")
    expect(notebook.cells).to_have_count(1)
    expect(notebook.editor(0)).to_be_focused()


@pytest.mark.firefox
def test_cells_share_a_namespace_and_a_semicolon_hides(notebook: NotebookPage) -> None:
    notebook.run("seen = [1, 2]")
    expect(notebook.run("seen.append(3)\nseen")).to_have_text("[1, 2, 3]")
    expect(notebook.run("seen;")).to_be_empty()


@pytest.mark.firefox
def test_printed_text_comes_while_the_cell_runs(notebook: NotebookPage) -> None:
    index = notebook.start(
        "import asyncio, sys\nprint('first')\nprint('oh', file=sys.stderr)\n"
        "gate = asyncio.Event()\nawait gate.wait()"
    )
    expect(notebook.output(index).locator(".stdout")).to_have_text("first\n")
    expect(notebook.output(index).locator(".stderr")).to_have_text("oh\n")
    notebook.wait_state("busy")
    expect(notebook.cell(index).locator(".cell-count")).to_have_text("[*]")
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_text_is_never_markup(notebook: NotebookPage) -> None:
    output = notebook.run("print('<b>bold</b>')\n'<i>it</i>'")
    expect(output).to_contain_text("<b>bold</b>")
    expect(output).to_contain_text("'<i>it</i>'")
    expect(output.locator("b, i")).to_have_count(0)


@pytest.mark.firefox
def test_rich_representations(notebook: NotebookPage) -> None:
    output = notebook.run(
        "class Table:\n"
        "    def _repr_html_(self):\n"
        "        return '<table><tr><td>cell</td></tr></table>'"
        " '<img src=data:, onerror=\"window.hacked = 1\"><script>window.hacked = 1</script>'\n"
        "class Drawing:\n"
        "    def _repr_svg_(self):\n"
        '        return \'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>\'\n'
        "class Broken:\n"
        "    def _repr_html_(self):\n"
        "        raise ValueError\n"
        "    def __repr__(self):\n"
        "        return 'plain'\n"
        "display(Table(), Broken())\n"
        "Drawing()"
    )
    # HTML with a script runs in a frame, without access to the page.
    expect(output.frame_locator("iframe").locator("td")).to_have_text("cell")
    # As in Jupyter, the class's author sees the error.
    expect(output.locator(".display_data pre")).to_have_text("plain")
    expect(output.locator(".output-traceback").first).to_contain_text("ValueError")
    drawing = output.locator("img[src^='data:image/svg']")
    assert drawing.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 20
    assert notebook.page.evaluate("window.hacked === undefined")


@pytest.mark.firefox
def test_a_figure_of_matplotlib_is_shown(notebook: NotebookPage) -> None:
    output = notebook.run("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);")
    figure = output.locator("img[src^='data:image/png']")
    assert figure.evaluate("async (image) => (await image.decode(), image.naturalWidth)") > 300


def test_an_image_of_pillow_is_shown(notebook: NotebookPage) -> None:
    output = notebook.run("from PIL import Image\nImage.new('RGB', (30, 20), 'teal')")
    picture = output.locator("img[src^='data:image/png']")
    assert picture.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 30


@pytest.mark.firefox
def test_a_traceback_has_the_users_frames_and_lines(notebook: NotebookPage) -> None:
    notebook.run("def half(x):\n    return x / 0")
    output = notebook.run("half(1)")
    trace = output.locator(".output-traceback").first
    expect(trace).to_contain_text("ZeroDivisionError")
    expect(trace).to_contain_text("return x / 0")
    expect(trace).to_contain_text("line 2, in half")
    for machinery in ("pyodide", "notebook_kernel"):
        expect(output).not_to_contain_text(machinery)


def test_a_traceback_marks_the_line_that_failed_among_its_neighbours(
    notebook: NotebookPage,
) -> None:
    output = notebook.run("before = 1\ndef half(x):\n    return 1 + x / 0\n\nhalf(before)")
    trace = output.locator(".output-traceback").first
    for line in ("      2 def half(x):", "----> 3     return 1 + x / 0", "----> 5 half(before)"):
        expect(trace).to_contain_text(line)
    expect(trace.locator(".ansi-underline")).to_have_text("x / 0")
    expect(trace.locator(".ansi-bold.ansi-ink-1")).to_have_text("ZeroDivisionError")
    expect(output.locator("summary")).to_have_count(0)  # frames of libraries are hidden
    # The notebook stores it in Jupyter's format.
    notebook.wait_kept()
    with notebook.page.expect_download() as download:
        notebook.share("Download notebook")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    (error,) = saved["cells"][0]["outputs"]
    assert "\x1b[1;31mZeroDivisionError\x1b[0m: division by zero" in error["traceback"]


def test_colours_of_printed_text(notebook: NotebookPage) -> None:
    output = notebook.run(
        r"print('\x1b[31mred\x1b[0m plain \x1b[1;94mbold\x1b[22m blue\x1b[39m none')"
        "\n"
        r"print('\x1b[38;5;28mgreen\x1b[m \x1b[48;2;250;240;0mmarked\x1b[0m <b>text</b>')"
    )
    text = output.locator(".output-text")
    expect(text).to_have_text("red plain bold blue none\ngreen marked <b>text</b>\n")
    spans = text.locator("span").evaluate_all(
        "(all) => all.map(({ className, textContent }) => [className, textContent])"
    )
    assert spans == [
        ["ansi-ink-1", "red"],
        ["ansi-bold ansi-ink-12", "bold"],
        ["ansi-ink-12", " blue"],
        ["ansi-ink-2", "green"],
        ["ansi-ground-3", "marked"],
    ]
    plain, red = (
        place.evaluate("(one) => getComputedStyle(one).color")
        for place in (text, text.locator("span").first)
    )
    assert plain != red
    # A coloured progress bar overwrites itself.
    output = notebook.run(
        "import asyncio\nfor done in (10, 55, 100):\n"
        r"    print(f'\r\x1b[32m{done}%\x1b[0m of all', end='')"
        "\n    await asyncio.sleep(0.2)"
    )
    expect(output.locator(".output-text")).to_have_text("100% of all")
    expect(output.locator(".output-text span")).to_have_text("100%")


def test_a_traceback_through_a_library_shows_it_on_demand(notebook: NotebookPage) -> None:
    output = notebook.run("import json\njson.loads('{')")
    expect(output.locator(".output-traceback").first).to_contain_text("JSONDecodeError")
    expect(output.locator(".output-traceback").first).not_to_contain_text("decoder.py")
    output.locator("summary").click()
    expect(output.locator(".output-traceback").last).to_contain_text("decoder.py")


@pytest.mark.firefox
def test_a_syntax_error_points_at_its_place(notebook: NotebookPage) -> None:
    trace = notebook.run("x = (1,\ny = 2").locator(".output-traceback")
    expect(trace).to_contain_text("SyntaxError")
    expect(trace).to_contain_text("line")
    expect(trace).not_to_contain_text("Traceback")
    trace = notebook.run("print('a'").locator(".output-traceback")
    expect(trace).to_contain_text("SyntaxError: '(' was never closed")
    # The tokenizer, which finds this one, knows no file.
    trace = notebook.run("if x:\n        y = 1\n    z = 2").locator(".output-traceback").first
    expect(trace).to_contain_text('File "Cell ')


@pytest.mark.firefox
def test_top_level_await_and_blocking(notebook: NotebookPage) -> None:
    expect(notebook.run("import asyncio\nawait asyncio.sleep(0, 'awaited')")).to_have_text(
        "'awaited'"
    )
    blocked = "from pyodide.ffi import run_sync\nrun_sync(asyncio.sleep(0, 'blocked'))"
    expect(notebook.run(blocked)).to_have_text("'blocked'")


@pytest.mark.firefox
def test_an_exception_passes_through_a_blocking_wait(notebook: NotebookPage) -> None:
    output = notebook.run(
        "from pyodide.ffi import run_sync\n"
        "async def fail():\n    raise LookupError('deep')\n"
        "try:\n    run_sync(fail())\nexcept LookupError as error:\n    print('caught', error)"
    )
    expect(output).to_have_text("caught deep")


def test_late_output_of_a_task_belongs_to_its_cell(notebook: NotebookPage) -> None:
    first = notebook.start(
        "import asyncio\nasync def later(gate):\n    await gate.wait()\n    print('late')\n"
        "gate = asyncio.Event()\ntask = asyncio.ensure_future(later(gate))"
    )
    second = notebook.start("gate.set()\nawait task\nprint('second')")
    expect(notebook.output(second)).to_have_text("second")
    expect(notebook.output(first)).to_have_text("late")


def test_run_all_stops_at_the_first_failure(notebook: NotebookPage) -> None:
    for index, code in enumerate(["order = ['a']", "1 / 0", "order.append('c')"]):
        notebook.fill(index, code)
        notebook.page.keyboard.press("Escape")
        if index < 2:
            notebook.page.keyboard.press("b")
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.output(1)).to_contain_text("ZeroDivisionError")
    expect(notebook.cell(2).locator(".cell-count")).to_have_text("")
    notebook.fill(2, "order")
    notebook.page.keyboard.press("Control+Enter")
    expect(notebook.output(2)).to_have_text("['a']")


def test_indenting_and_undo(notebook: NotebookPage) -> None:
    notebook.editor(0).click()
    keyboard = notebook.page.keyboard
    keyboard.type("if True:")
    keyboard.press("Enter")
    keyboard.type("x")
    assert notebook.source(0) == "if True:\n    x"
    keyboard.press("Escape")
    notebook.editor(0).click()
    keyboard.press("Control+End")
    keyboard.press("Home")
    keyboard.press("Tab")
    assert notebook.source(0) == "if True:\n        x"
    keyboard.press("Shift+Tab")
    keyboard.press("Shift+Tab")
    assert notebook.source(0) == "if True:\nx"
    keyboard.press("Control+z")
    assert notebook.source(0) == "if True:\n    x"


def test_code_that_is_pasted_keeps_its_indentation(notebook: NotebookPage) -> None:
    code = "def sign(x):\n    if x < 0:\n        return -1\n\n    return 1\n\nsign(-5)"
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    notebook.editor(0).click()
    notebook.page.evaluate("(code) => navigator.clipboard.writeText(code)", code)
    notebook.page.keyboard.press("Control+v")
    assert notebook.source(0) == code
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.output(0)).to_have_text("-1")
    # Paste into an indented block, and from one cell into another.
    notebook.page.keyboard.type("if True:")
    notebook.page.keyboard.press("Enter")
    notebook.page.evaluate("navigator.clipboard.writeText('x = 1\\n    y = 2')")
    notebook.page.keyboard.press("Control+v")
    assert notebook.source(1) == "if True:\n    x = 1\n    y = 2"
    for key in ("Control+a", "Control+x"):
        notebook.page.keyboard.press(key)
    notebook.editor(0).click()
    for key in ("Control+a", "Control+v"):
        notebook.page.keyboard.press(key)
    assert notebook.sources() == ["if True:\n    x = 1\n    y = 2", ""]


def test_thousands_of_lines_from_a_phones_keyboard_are_one_change(notebook: NotebookPage) -> None:
    code = "\n".join(f"x{i} = [{i}]  # (line {i}" for i in range(5000))
    notebook.editor(0).click()
    # Chromium alone inserts them line by line, and hangs for minutes.
    notebook.page.keyboard.insert_text(code)
    _, saved = notebook.save_file()
    assert "".join(saved["cells"][0]["source"]) == code
    notebook.editor(0).click()
    notebook.page.keyboard.press("Control+z")
    assert notebook.source(0) == ""


def completions(notebook: NotebookPage, typed: str) -> list[str]:
    """Return what the editor offers after `typed`."""
    notebook.fill(notebook.cells.count() - 1, "")
    notebook.page.keyboard.type(typed)
    offered = notebook.page.locator(
        ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)"
    )
    if not offered.is_visible():
        notebook.page.keyboard.press("Control+Space")
    expect(offered).to_be_visible()
    labels = offered.locator(".cm-completionLabel").all_inner_texts()
    notebook.page.keyboard.press("Escape")
    return labels


def test_completion_comes_from_the_live_interpreter(notebook: NotebookPage) -> None:
    notebook.run(
        "import numpy as np\nrarely_used_name = 1\nprices = {'apple': 1, 'pear': 2}\n"
        "class Loud:\n    @property\n    def touched(self):\n        raise SystemError\n"
        "loud = Loud()"
    )
    assert "rarely_used_name" in completions(notebook, "rarely")
    assert completions(notebook, "np.linalg.no") == ["norm"]
    assert "apple" in completions(notebook, "prices['a")
    assert "touched" in completions(notebook, "loud.to")
    assert "browsergpu" in completions(notebook, "import browser")
    # A package of the site that no cell has imported yet.
    assert "matplotlib" in completions(notebook, "import mat")
    assert "sqrt" in completions(notebook, "from math import sq")


def test_a_completion_is_taken_with_enter(notebook: NotebookPage) -> None:
    notebook.run("a_long_name_to_complete = 5")
    last = notebook.cells.count() - 1
    notebook.editor(last).click()
    notebook.page.keyboard.type("a_long_n")
    expect(notebook.page.locator(".cm-tooltip-autocomplete li[aria-selected]")).to_be_visible()
    # CodeMirror ignores Enter just after a list opens, so that it does not interrupt typing.
    expect(notebook.editor(last)).to_be_focused()
    notebook.page.wait_for_timeout(200)
    notebook.page.keyboard.press("Enter")
    expect(notebook.editor(last)).to_have_text("a_long_name_to_complete")


def last_editor(notebook: NotebookPage, typed: str, delay: float = 0) -> Locator:
    """Type into the last cell's editor and return the editor."""
    last = notebook.cells.count() - 1
    notebook.fill(last, "")
    notebook.page.keyboard.type(typed, delay=delay)
    return notebook.editor(last)


@pytest.mark.all
def test_tab_behind_a_word_completes_at_any_speed(notebook: NotebookPage) -> None:
    notebook.run("import numpy as np\nfrequency_table = {}\ntexts = ['a']")
    keyboard = notebook.page.keyboard
    for delay in (0, 30, 120):
        for typed, whole in {
            "np.linalg.no": "np.linalg.norm",
            "frequ": "frequency_table",
            # jedi completes an expression without a name.
            "texts[0].capitali": "texts[0].capitalize",
            "%timei": "%timeit",
        }.items():
            editor = last_editor(notebook, typed, delay)
            keyboard.press("Tab")
            expect(editor).to_have_text(whole)
    # Several candidates show a list. Close the list that typing opened, or Tab would accept its
    # first candidate.
    editor = last_editor(notebook, "np.linalg.sv")
    offered = notebook.page.locator(".cm-tooltip-autocomplete .cm-completionLabel")
    expect(offered).to_have_text(["svd", "svdvals"])
    keyboard.press("Escape")
    expect(offered).to_have_count(0)
    keyboard.press("Tab")
    expect(offered).to_have_text(["svd", "svdvals"])
    keyboard.press("Escape")
    # Without candidates, Tab still does not indent the middle of a line.
    editor = last_editor(notebook, "no_such_name_at_all")
    keyboard.press("Tab")
    keyboard.type(" = 1")
    expect(editor).to_have_text("no_such_name_at_all = 1")


def test_completion_of_known_names_works_while_the_kernel_is_busy(notebook: NotebookPage) -> None:
    notebook.run("import numpy as np\nmeasured = np.ones(3)")
    notebook.start("while True: pass")
    notebook.wait_state("busy")
    for typed, whole in {
        "np.linalg.no": "np.linalg.norm",
        "measured.resh": "measured.reshape",
        "measu": "measured",
        "local_name = 1\nlocal_n": "local_name",
        "isinst": "isinstance",
    }.items():
        editor = last_editor(notebook, typed)
        notebook.page.keyboard.press("Tab")
        expect(editor.locator(".cm-line").last).to_have_text(whole)
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_signatures_and_documentation(notebook: NotebookPage) -> None:
    notebook.run("import numpy as np\ndef known(first, second=2):\n    'Say so.'")
    keyboard = notebook.page.keyboard
    help_ = notebook.page.locator(".documentation")
    editor = last_editor(notebook, "np.linspace(")
    expect(help_).to_contain_text("np.linspace(start, stop, num=50")
    expect(help_).to_contain_text("Return evenly spaced numbers")
    keyboard.type("0, known(")
    expect(help_).to_contain_text("known(first, second=2)")
    keyboard.press("Escape")
    expect(help_).to_be_hidden()
    expect(editor).to_be_focused()
    keyboard.press("Shift+Tab")
    expect(help_).to_contain_text("Say so.")
    # Shift+Tab shows the whole documentation, for a name as for a call.
    last_editor(notebook, "np.linspace")
    keyboard.press("Shift+Tab")
    expect(help_).to_contain_text("Examples")
    keyboard.press("Escape")
    # Help also covers definitions that have not been run.
    last = notebook.cells.count() - 1
    notebook.fill(last, "def unrun(alpha, beta): return alpha\n")
    keyboard.type("unrun(")
    expect(help_).to_contain_text("unrun(alpha, beta)")
    keyboard.press("Escape")
    # And calls in modules that have not been imported.
    notebook.fill(last, "import cmath\ncmath.sqrt")
    keyboard.type("(")
    expect(help_).to_contain_text("square root")
    keyboard.press("Escape")


def test_cells_are_added_moved_deleted_and_brought_back(notebook: NotebookPage) -> None:
    notebook.fill(0, "1")
    notebook.press("Code")
    notebook.page.keyboard.insert_text("2")
    assert notebook.sources() == ["1", "2"]
    notebook.cell(1).hover()
    notebook.cell(1).get_by_role("button", name="Move this cell up").click()
    assert notebook.sources() == ["2", "1"]
    notebook.cell(0).hover()
    notebook.cell(0).get_by_role("button", name="Delete this cell").click()
    assert notebook.sources() == ["1"]
    notebook.messages.get_by_role("button", name="Undo").click()
    assert notebook.sources() == ["2", "1"]


def test_a_text_cell_is_rendered_safely_and_edited_again(notebook: NotebookPage) -> None:
    notebook.press("Text")
    notebook.page.keyboard.insert_text(
        "# Title\n\n- item with `code`\n\n[link](https://example.com)\n\n"
        "<script>window.hacked = 1</script><img src=data:, onerror='window.hacked = 1'>"
    )
    notebook.page.keyboard.press("Control+Enter")
    text = notebook.cell(1).locator(".cell-rendered")
    expect(text.locator("h1")).to_have_text("Title")
    expect(text.locator("li code")).to_have_text("code")
    expect(text.locator("a")).to_have_attribute("rel", "noopener noreferrer")
    assert notebook.page.evaluate("window.hacked === undefined")
    notebook.page.keyboard.press("Enter")
    expect(notebook.editor(1)).to_be_focused()
    expect(text).to_be_hidden()


def test_the_keyboard_alone_is_enough(notebook: NotebookPage) -> None:
    keyboard = notebook.page.keyboard
    notebook.cell(0).focus()
    keyboard.press("Enter")
    keyboard.type("x = 20")
    keyboard.press("Alt+Enter")
    keyboard.type("x + 1")
    keyboard.press("Escape")
    expect(notebook.cell(1)).to_be_focused()
    keyboard.press("Control+Enter")
    expect(notebook.output(1)).to_have_text("21")
    keyboard.press("Alt+ArrowUp")
    assert notebook.sources() == ["x + 1", "x = 20"]
    expect(notebook.cell(0)).to_be_focused()
    keyboard.press("a")
    keyboard.press("m")
    expect(notebook.cell(0)).to_have_attribute("data-type", "markdown")
    keyboard.press("d")
    keyboard.press("d")
    assert notebook.sources() == ["x + 1", "x = 20"]
    keyboard.press("ArrowDown")
    expect(notebook.cell(1)).to_be_focused()
    # Tab leaves the cells: nothing traps the focus.
    for _ in range(12):
        keyboard.press("Tab")
    assert not notebook.page.evaluate("document.activeElement.closest('.cells') !== null")


def test_every_control_has_a_name_and_cells_have_positions(notebook: NotebookPage) -> None:
    notebook.press("Code")
    expect(notebook.cell(1)).to_have_attribute("aria-label", "Cell 2 of 2, code")
    nameless = notebook.page.evaluate(
        """() => [...document.querySelectorAll("button, input, [role=textbox], canvas, progress")]
          .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim()
            || [...(one.labels ?? [])].some((label) => label.textContent.trim())))
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_a_screen_reader_hears_how_a_run_ended(notebook: NotebookPage) -> None:
    notebook.run("1")
    expect(notebook.page.locator("#announcements")).to_contain_text("Cell finished in")
    notebook.run("1 / 0")
    expect(notebook.page.locator("#announcements")).to_contain_text("ZeroDivisionError")


def test_clearing_outputs(notebook: NotebookPage) -> None:
    expect(notebook.run("'something'")).to_have_text("'something'")
    notebook.choose("Clear outputs")
    expect(notebook.output(0)).to_be_empty()
    expect(notebook.cell(0).locator(".cell-count")).to_have_text("")


def test_the_page_fits_a_narrow_screen(notebook: NotebookPage) -> None:
    before = notebook.page.viewport_size
    notebook.fill(0, "print('a long line ' * 30)")
    notebook.page.set_viewport_size({"width": 360, "height": 740})
    try:
        notebook.page.keyboard.press("Control+Enter")
        notebook.wait_finished()
        assert notebook.page.evaluate("document.scrollingElement.scrollWidth") <= 360
    finally:
        notebook.page.set_viewport_size(before or {"width": 1280, "height": 720})


def test_light_and_dark_follow_the_system(notebook: NotebookPage) -> None:
    def contrast() -> float:
        """Return the contrast of text and page background, as WCAG defines it."""
        return notebook.page.evaluate(
            """() => {
              const luminance = (text) => text.match(/[\\d.]+/g).slice(0, 3)
                .map((value) => value / 255)
                .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
              const { color, backgroundColor } = getComputedStyle(document.body);
              const [low, high] = [luminance(color), luminance(backgroundColor)]
                .sort((a, b) => a - b);
              return (high + 0.05) / (low + 0.05);
            }"""
        )

    grounds = set()
    for scheme in ("light", "dark"):
        notebook.page.emulate_media(color_scheme=scheme)
        assert contrast() > 7
        grounds.add(notebook.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2
    notebook.page.emulate_media(color_scheme="light")


def test_names_that_only_the_values_know_are_offered_while_typing(
    notebook: NotebookPage,
) -> None:
    notebook.run(
        "import numpy as np\nfrom pathlib import Path\n"
        "prices = np.zeros(2, [('price_low', 'f4'), ('price_high', 'f4')])\n"
        "_ = Path('data_of_today.csv').write_text('1')\n"
        "def weigh(goods, *, separator=',', tare=0): return tare"
    )
    offered = notebook.page.locator(".cm-tooltip-autocomplete .cm-completionLabel")
    for code, options in (
        ('prices["pri', ["price_high", "price_low"]),
        ('open("data_of', ["data_of_today.csv"]),
        ("weigh(prices, tar", ["tare="]),
    ):
        notebook.fill(1, "")
        notebook.page.keyboard.type(code)
        expect(offered).to_have_text(options)
        notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("Tab")
    expect(notebook.editor(1)).to_have_text("weigh(prices, tare=)")
