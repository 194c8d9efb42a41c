"""<browsergpu-cell> in pages of lessons and documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness import problems
from harness.accessibility import find_serious
from harness.lab import Lab
from harness.patience import PATIENCE_MS
from playwright.sync_api import Locator, Page, Route, expect

ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
#: Styles of a page that would spoil a cell without a shadow tree.
HOSTILE = "<style>button, pre, p { display: none } div { padding: 40px; color: red }</style>"
LESSON = """
<h1>A lesson</h1>
<browsergpu-cell id="first"><pre>
  import browsergpu as bg
  x = bg.arange(5)
  x * 2
</pre></browsergpu-cell>
<section><browsergpu-cell id="second">total = float(bg.sum(x)); print("sum", total)
</browsergpu-cell></section>
<browsergpu-cell id="third"></browsergpu-cell>
"""
Lesson = Callable[..., Page]


def text_of(body: str, site: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Lesson</title>{head}'
        f'<script src="{site}/browsergpu-cell.js" async></script><main>{body}</main></html>'
    )


def serve(page: Page, site: str, text: str, headers: dict[str, str]) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=text, content_type="text/html", headers=headers)

    page.route(f"{site}/lessons/page.html", answer)
    page.goto(f"{site}/lessons/page.html")


@pytest.fixture
def lesson(new_page: Callable[..., Page], site_url: str) -> Lesson:
    """Opens a page with this body, from the site of the notebook."""

    def open_page(body: str, *, isolated: bool = True, **options: object) -> Page:
        page = new_page(visited=True, **options)
        serve(page, site_url, text_of(body, site_url), ISOLATED if isolated else {})
        return page

    return open_page


@pytest.fixture(scope="module")
def opened(lab: Lab) -> Iterator[tuple[Page, list[str]]]:
    found: list[str] = []
    page = lab.new_page(found.append, visited=True)
    serve(page, lab.site_url, text_of(LESSON, lab.site_url, HOSTILE), ISOLATED)
    yield page, found
    page.context.close()


@pytest.fixture
def shared(opened: tuple[Page, list[str]]) -> Iterator[Page]:
    """The lesson that most tests share, since its kernel takes seconds to start."""
    page, found = opened
    found.clear()
    yield page
    problems.assert_none(found)


def cell(page: Page, name: str) -> Locator:
    return page.locator(f"browsergpu-cell#{name}")


def output(page: Page, name: str) -> Locator:
    return cell(page, name).locator(".cell-outputs")


def run(page: Page, name: str) -> Locator:
    """Click Run, wait for the end, and return the output."""
    cell(page, name).get_by_role("button", name="Run this cell").click()
    return finished(page, name)


def finished(page: Page, name: str) -> Locator:
    box = cell(page, name).locator(".cell")
    expect(box).not_to_have_attribute("aria-busy", "true", timeout=PATIENCE_MS)
    return output(page, name)


def write(page: Page, name: str, code: str) -> None:
    cell(page, name).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def test_a_reader_runs_the_cells_of_a_lesson_in_one_kernel(shared: Page) -> None:
    cell(shared, "second").get_by_role("button", name="Run from the top").click()
    expect(output(shared, "first")).to_contain_text("0, 2, 4, 6, 8", timeout=PATIENCE_MS)
    expect(finished(shared, "second")).to_have_text("sum 10.0\n")
    write(shared, "third", "total + 1")
    shared.keyboard.press("Shift+Enter")
    expect(finished(shared, "third")).to_have_text("11.0")
    assert len(shared.workers) == 1


def test_the_page_does_not_restyle_a_cell(shared: Page) -> None:
    expect(cell(shared, "first").get_by_role("button", name="Run this cell")).to_be_visible()
    colour = "e => getComputedStyle(e).color"
    inside = cell(shared, "first").locator(".cell-gutter").evaluate(colour)
    assert inside != "rgb(255, 0, 0)"


def test_a_changed_cell_can_be_reset(shared: Page) -> None:
    reset = cell(shared, "first").get_by_role("button", name="Reset")
    expect(reset).to_be_hidden()
    write(shared, "first", "1 / 0")
    expect(run(shared, "first")).to_contain_text("ZeroDivisionError")
    expect(cell(shared, "first").locator(".cell")).to_have_attribute("data-state", "failed")
    reset.click()
    expect(cell(shared, "first").locator(".cm-line").first).to_have_text("import browsergpu as bg")
    expect(reset).to_be_hidden()


def test_outputs_are_those_of_the_notebook(shared: Page) -> None:
    write(
        shared,
        "third",
        "import browsergpu as bg\nfrom IPython.display import HTML, display\n"
        "display(HTML('<b>bold</b>'))\nbg.draw(bg.ones((8, 8)))\nname = input('Who? ')",
    )
    cell(shared, "third").get_by_role("button", name="Run this cell").click()
    field = cell(shared, "third").get_by_role("textbox", name="Who?")
    field.fill("Ada", timeout=PATIENCE_MS)
    field.press("Enter")
    shown = finished(shared, "third")
    expect(shown.locator("b")).to_have_text("bold")
    expect(shown.locator("canvas.picture")).to_be_visible()
    write(shared, "third", "from ipywidgets import IntSlider\nIntSlider(3, description='size')")
    slider = run(shared, "third").frame_locator("iframe").get_by_role("slider", name="size")
    expect(slider).to_have_attribute("aria-valuenow", "3.0")
    write(shared, "third", "display(HTML('<script>document.write(6 * 7)</script>'))")
    frame = run(shared, "third").frame_locator("iframe")
    expect(frame.locator("body")).to_contain_text("42")


def test_a_running_cell_can_be_interrupted(shared: Page) -> None:
    write(shared, "third", "while True: pass")
    shared.keyboard.press("Control+Enter")
    cell(shared, "third").get_by_role("button", name="Interrupt").click(timeout=PATIENCE_MS)
    expect(finished(shared, "third")).to_contain_text("KeyboardInterrupt")


def test_names_are_completed_and_described(shared: Page) -> None:
    write(shared, "third", "import sys\nsys.byteor")
    line = cell(shared, "third").locator(".cm-line").last
    # A kernel that is busy longer than Tab waits completes at the next press.
    for _ in range(20):
        shared.keyboard.press("Tab")
        shared.wait_for_timeout(500)
        if line.inner_text() == "sys.byteorder":
            break
    expect(line).to_have_text("sys.byteorder")
    write(shared, "third", "len")
    shared.keyboard.type("(")
    expect(cell(shared, "third").locator(".documentation")).to_contain_text("number of items")
    shared.keyboard.press("Escape")


def test_keys_enter_and_leave_the_editor(shared: Page) -> None:
    cell(shared, "second").locator(".cm-content").click()
    shared.keyboard.press("Escape")
    expect(cell(shared, "second").locator(".cell")).to_be_focused()
    shared.keyboard.press("Enter")
    expect(cell(shared, "second").locator(".cm-content")).to_be_focused()
    shared.keyboard.press("Control+End")
    shared.keyboard.type("  # typed")
    expect(cell(shared, "second").locator(".cm-line").last).to_contain_text("# typed")


@pytest.mark.all
def test_a_cell_has_no_serious_accessibility_problem(shared: Page) -> None:
    shared.evaluate("document.querySelector('style').remove()")
    assert find_serious(shared) == []


def test_attributes_select_the_source_and_when_it_runs(lesson: Lesson, site_url: str) -> None:
    body = """
      <browsergpu-cell id="hidden" hidden autorun>steps = ["hidden"]</browsergpu-cell>
      <browsergpu-cell id="file" src="code.py" autorun readonly></browsergpu-cell>
      <browsergpu-cell id="last" autorun>steps</browsergpu-cell>"""
    page = lesson("<p>")
    page.route(
        f"{site_url}/lessons/code.py",
        lambda route: route.fulfill(body="steps.append('a < b & c')\n"),
    )
    page.evaluate("(html) => { document.querySelector('main').innerHTML = html }", body)
    expect(output(page, "last")).to_have_text("['hidden', 'a < b & c']", timeout=PATIENCE_MS)
    expect(cell(page, "hidden")).to_be_hidden()
    write(page, "file", "changed")
    expect(cell(page, "file").locator(".cm-content")).to_contain_text("a < b & c")
    cell(page, "file").evaluate("one => one.removeAttribute('readonly')")
    write(page, "file", "steps + ['changed']")
    expect(run(page, "file")).to_have_text("['hidden', 'a < b & c', 'changed']")


@pytest.mark.provokes_errors
def test_wrong_attributes_are_refused_where_the_reader_sees_it(lesson: Lesson) -> None:
    page = lesson("""
      <browsergpu-cell id="unknown" autrun><pre>1 + 1</pre></browsergpu-cell>
      <browsergpu-cell id="both" src="code.py">1 + 1</browsergpu-cell>
      <browsergpu-cell id="missing" src="missing.py"></browsergpu-cell>
      <browsergpu-cell id="fine" class="wide" title="t" data-x="1">2</browsergpu-cell>
    """)
    said = cell(page, "unknown").get_by_role("alert")
    expect(said).to_have_text(
        "browsergpu-cell: attribute must be autorun, readonly or src, got autrun. "
        "Correct or remove it."
    )
    expect(cell(page, "unknown").get_by_text("1 + 1")).to_be_visible()
    expect(cell(page, "both").get_by_role("alert")).to_contain_text("text or src, got both")
    expect(cell(page, "missing").get_by_role("alert")).to_contain_text("missing.py: HTTP 404")
    expect(cell(page, "fine").locator(".cm-content")).to_have_text("2")
    cell(page, "fine").evaluate("one => one.setAttribute('theme', 'dark')")
    expect(cell(page, "fine").get_by_role("alert")).to_contain_text("got theme")


@pytest.mark.all
def test_a_page_without_isolation_restarts_code_that_does_not_react(lesson: Lesson) -> None:
    page = lesson('<browsergpu-cell id="one">while True: pass</browsergpu-cell>', isolated=False)
    cell(page, "one").get_by_role("button", name="Run this cell").click()
    cell(page, "one").get_by_role("button", name="Interrupt").click(timeout=PATIENCE_MS)
    cell(page, "one").get_by_role("button", name="Restart Python").click()
    expect(output(page, "one")).to_contain_text("The kernel was restarted", timeout=PATIENCE_MS)
    write(page, "one", "6 * 7")
    expect(run(page, "one")).to_have_text("42")


@pytest.mark.all
def test_a_browser_without_a_gpu_is_told_before_python_loads(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page(visited=True)
    page.add_init_script("delete Navigator.prototype.gpu")
    body = '<browsergpu-cell id="one">6 * 7</browsergpu-cell>'
    serve(page, site_url, text_of(body, site_url), ISOLATED)
    cell(page, "one").get_by_role("button", name="Run this cell").click()
    note = cell(page, "one").locator(".notes")
    expect(note).to_contain_text("This browser has no WebGPU")
    note.get_by_role("button", name="Run it anyway").click()
    expect(finished(page, "one")).to_have_text("42")
