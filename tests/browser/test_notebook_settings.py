"""Settings: theme, font size, completion while typing, word wrap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from playwright.sync_api import Locator, expect

LONG = "text = '" + "word " * 100 + "'"


@pytest.fixture
def opened(lab: Lab) -> Iterator[NotebookPage]:
    """A page of its own, since the browser stores settings."""
    with open_notebook(lab) as (notebook, problems):
        notebook.new()
        yield notebook
        assert problems == []


def settings(notebook: NotebookPage) -> Locator:
    notebook.choose("Settings")
    return notebook.page.get_by_role("dialog", name="Settings")


def background(notebook: NotebookPage) -> int:
    """Return the red of the page's background."""
    return int(
        notebook.page.evaluate(
            "Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0])"
        )
    )


def test_settings_apply_at_once_and_are_kept(opened: NotebookPage) -> None:
    page = opened.page
    page.emulate_media(color_scheme="light")
    opened.fill(0, LONG)
    editor = opened.editor(0)
    assert background(opened) > 200
    low, small = (editor.bounding_box() or {})["height"], font_size(opened)
    dialog = settings(opened)
    dialog.get_by_role("combobox", name="Theme").select_option("Dark")
    dialog.get_by_label("Font size of cells").select_option("150 %")
    dialog.get_by_label("Complete code while typing").uncheck()
    dialog.get_by_label("Wrap long lines of code").check()
    assert background(opened) < 60
    dialog.get_by_role("button", name="Close").click()
    assert font_size(opened) == pytest.approx(1.5 * small)
    assert (editor.bounding_box() or {})["height"] > 3 * low
    page.reload()
    opened.wait_idle()
    opened.new()
    assert background(opened) < 60
    opened.fill(0, LONG)
    assert (editor.bounding_box() or {})["height"] > 3 * low

    opened.fill(0, "")
    page.keyboard.type("pri")
    page.wait_for_timeout(1000)
    options = page.locator(".cm-tooltip-autocomplete")
    expect(options).to_have_count(0)
    page.keyboard.press("Control+Space")
    expect(options).to_contain_text("print")
    page.keyboard.press("Escape")
    dialog = settings(opened)
    dialog.get_by_label("Complete code while typing").check()
    dialog.get_by_role("combobox", name="Theme").select_option("As the system")
    dialog.get_by_role("button", name="Close").click()
    assert background(opened) > 200
    opened.fill(0, "")
    page.keyboard.type("pri")
    expect(options).to_contain_text("print")


def font_size(notebook: NotebookPage) -> float:
    """Return the size of the code's font in pixels."""
    return float(notebook.editor(0).evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)"))


# Records notifications, and lets the page look as if another tab were shown.
_WATCH = """(() => {
  globalThis.notified = [];
  const Original = Notification;
  globalThis.Notification = class extends Original {
    constructor(title, options) {
      super(title, options);
      notified.push([title, options.body]);
    }
  };
  Object.defineProperty(document, "visibilityState", { get: () => globalThis.looks ?? "visible" });
})()"""


@pytest.mark.all
def test_a_long_run_that_ends_unseen_is_notified_if_the_user_asked_for_it(
    opened: NotebookPage,
) -> None:
    page = opened.page
    page.context.grant_permissions(["notifications"])
    page.add_init_script(_WATCH)
    opened.open()
    opened.new()
    dialog = settings(opened)
    dialog.get_by_label("Notify me when a long run ends").check()
    dialog.get_by_role("button", name="Close").click()
    opened.run("import time; time.sleep(0.1)")
    page.evaluate("globalThis.looks = 'hidden'")
    opened.run("time.sleep(0.1)")
    opened.run("time.sleep(10.5)")
    page.wait_for_function("notified.length === 1")
    ((title, text),) = page.evaluate("notified")
    assert title.startswith("untitled")
    assert text.startswith("Ran in 10.")


@pytest.mark.all
def test_notifications_that_the_browser_refuses_stay_off(opened: NotebookPage) -> None:
    opened.page.evaluate("Notification.requestPermission = async () => 'denied'")
    dialog = settings(opened)
    dialog.get_by_label("Notify me when a long run ends").click()
    expect(dialog).to_contain_text("does not allow notifications")
    expect(dialog.get_by_label("Notify me when a long run ends")).not_to_be_checked()
