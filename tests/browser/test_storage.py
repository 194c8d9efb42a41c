"""The site's storage in the browser: the page's notebooks and the package's settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from harness.bare import BarePage
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from harness.problems import watch
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = pytest.mark.all

# Playwright calls a script that is a function.
_LIBRARY = """() => {
  globalThis.settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error ?? new Error("blocked"));
  });
}"""
# Returns the stores of each database with their contents.
_EVERYTHING = """async () => {
  const found = {};
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    found[name] = {};
    for (const store of database.objectStoreNames) {
      const rows = await settled(database.transaction(store).objectStore(store).getAll());
      found[name][store] = rows.map((row) => row.title ?? row);
    }
    database.close();
  }
  return found;
}"""

_OPEN = """
from browsergpu import Device, benchmark_workgroup_sizes, forget_workgroup_sizes

device = await Device.request()
print([device.workgroup_sizes.elementwise, device.workgroup_sizes.reduction])
"""
_TUNE = "print(benchmark_workgroup_sizes(device, [16], elements=1000).stored)"
_SIZES = "[device.workgroup_sizes.elementwise, device.workgroup_sizes.reduction]"


class Site:
    """One browser profile on the site."""

    def __init__(self, context: BrowserContext, lab: Lab, tell: Callable[[str], None]) -> None:
        self._context = context
        self._lab = lab
        self._tell = tell

    def page(self) -> Page:
        """Open a new tab without an address."""
        page = self._context.new_page()
        watch(page, self._tell)
        return page

    def script(self) -> Page:
        """Open a tab of the site without the project's code."""
        page = self._context.new_page()  # not watched: the page has no icon
        page.goto(f"{self._lab.site_url}/favicon.svg")
        page.evaluate(_LIBRARY)
        return page

    def notebook(self, *, kernel: bool = True) -> NotebookPage:
        """Open a tab with the notebook; the kernel starts, or never starts if `kernel` is false."""
        notebook = NotebookPage(self.page(), self._lab.site_url)
        if not kernel:
            hold_kernels(notebook.page)
        notebook.page.goto(f"{self._lab.site_url}/")
        expect(notebook.cells).not_to_have_count(0)
        return notebook

    def bare(self, kernel: str) -> BarePage:
        """Open a tab with only the package, and a device."""
        bare = BarePage(self.page(), self._lab.site_url, kernel)
        bare.boot(["micropip"])
        bare.install([self._lab.wheel_url])
        bare.run(_OPEN)
        return bare


@pytest.fixture
def site(lab: Lab, page_problems: list[str]) -> Iterator[Site]:
    context = lab.new_context(visited=True)
    yield Site(context, lab, page_problems.append)
    context.close()


def keep(notebook: NotebookPage, code: str) -> None:
    """Put code into the first cell and wait until the browser has stored it."""
    notebook.fill(0, code)
    notebook.wait_kept()


def sizes_in(notebook: NotebookPage) -> list[int]:
    """Return the workgroup sizes of a device that the notebook opens."""
    notebook.wait_idle(120_000)
    sizes: list[int] = json.loads(notebook.run(_OPEN).inner_text())
    return sizes


def check_both_are_kept(notebook: NotebookPage) -> None:
    """Check that the page stores typed text, and the kernel its tuning results."""
    keep(notebook, "kept = 5")
    expect(notebook.run(_TUNE)).to_have_text("True")
    expect(notebook.messages).to_have_count(0)
    keep(notebook, "kept = 6")


def test_the_package_first_and_then_the_notebook(site: Site) -> None:
    bare = site.bare("worker")
    assert bare.run(_SIZES) == [256, 256]
    bare.run(_TUNE)
    notebook = site.notebook()
    assert sizes_in(notebook) == [16, 16]
    notebook.new()
    check_both_are_kept(notebook)
    hold_kernels(notebook.page)
    notebook.page.reload()
    expect(notebook.cell(0)).to_contain_text("kept = 6")
    expect(notebook.messages).to_have_count(0)
    assert set(site.script().evaluate(_EVERYTHING)) == {
        "browsergpu-notebooks", "browsergpu-settings",
    }  # fmt: skip


def test_open_tabs_do_not_block_each_other(site: Site) -> None:
    first = site.notebook(kernel=False)
    second = site.notebook(kernel=False)
    first.new()
    second.new()
    keep(first, "in_the_first_tab = 1")
    keep(second, "in_the_second_tab = 2")

    # A later version of the page may upgrade its database while these tabs keep running.
    version = site.script().evaluate("""async () => {
      const opening = indexedDB.open("browsergpu-notebooks", 7);
      opening.onupgradeneeded = () => opening.result.createObjectStore("more");
      const database = await settled(opening);
      database.close();
      return database.version;
    }""")
    assert version == 7
    for tab, code in ((first, "in_the_first_tab = 4"), (second, "in_the_second_tab = 5")):
        keep(tab, code)
        expect(tab.messages).to_have_count(0)
        tab.page.reload()
        expect(tab.cell(0)).to_contain_text(code)


def test_tuning_is_kept_forgotten_and_survives_a_later_schema(site: Site) -> None:
    bare = site.bare("main")
    assert bare.run(_SIZES) == [256, 256]
    bare.run(_TUNE)
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [16, 16]
    script = site.script()
    script.evaluate("""async () => {
      const opening = indexedDB.open("browsergpu-settings", 3);
      opening.onupgradeneeded = () => opening.result.createObjectStore("more");
      (await settled(opening)).close();
    }""")
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [16, 16]
    bare.run("forget_workgroup_sizes(device)")
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [256, 256]
    assert script.evaluate(_EVERYTHING) == {"browsergpu-settings": {"more": [], "settings": []}}
