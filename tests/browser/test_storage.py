"""What the browser keeps for the site: the page's notebooks and the package's settings.

Versions before kept both in one database, made by whoever came first with a store for itself alone.
Such databases are made here as those versions made them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from harness.bare import BarePage
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from harness.problems import watch
from playwright.sync_api import BrowserContext, Page, expect

# Functions of JavaScript for pages that have nothing else.
_LIBRARY = """
globalThis.settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = request.onblocked = () => reject(request.error ?? new Error("blocked"));
});
globalThis.made = async (store, options) => {
  const opening = indexedDB.open("browsergpu", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(store, options);
  return settled(opening);
};
globalThis.notebookOf = (id, saved, source) => ({
  id, saved, title: `title ${id}`,
  notebook: JSON.stringify({
    nbformat: 4, nbformat_minor: 5, metadata: {},
    cells: [{ cell_type: "code", id: "a", metadata: {}, execution_count: null, outputs: [],
              source: [source] }],
  }),
});
globalThis.put = (database, store, ...entry) =>
  settled(database.transaction(store, "readwrite").objectStore(store).put(...entry));
globalThis.keyOfSizes = async () => {
  const { info } = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  const names = [info.vendor, info.architecture, info.description];
  return `workgroup-sizes [${names.map((name) => JSON.stringify(name)).join(", ")}]`;
};
"""
_OLD_NOTEBOOKS = """async () => {
  globalThis.old = await made("notebooks", { keyPath: "id" });
  await put(old, "notebooks", notebookOf("first", Date.now() - 9e6, "of_the_first = 1"));
  await put(old, "notebooks", notebookOf("last", Date.now() - 8e6, "of_the_last = 2"));
}"""
_OLD_SETTINGS = """async () => {
  globalThis.old = await made("settings");
  await put(old, "settings", '{"elementwise": 64, "reduction": 32}', await keyOfSizes());
  await put(old, "settings", "another text", "another key");
}"""
_CLOSE = "() => old.close()"
# The stores of each database, with what is in them.
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
        """A new tab, at no address yet."""
        page = self._context.new_page()
        watch(page, self._tell)
        return page

    def script(self) -> Page:
        """A tab of the site without any code of the project."""
        page = self._context.new_page()  # not watched: it lacks an icon
        page.goto(f"{self._lab.site_url}/favicon.svg")
        page.evaluate(_LIBRARY)
        return page

    def notebook(self, *, kernel: bool = True) -> NotebookPage:
        """A tab with the notebook, its kernel still starting, or without end."""
        notebook = NotebookPage(self.page(), self._lab.site_url)
        if not kernel:
            hold_kernels(notebook.page)
        notebook.page.goto(f"{self._lab.site_url}/")
        expect(notebook.cells).not_to_have_count(0)
        return notebook

    def bare(self, kernel: str) -> BarePage:
        """A tab with the package alone, and a device open."""
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
    """Put code into the first cell, and wait until the browser has kept it."""
    notebook.fill(0, code)
    notebook.wait_kept()


def sizes_in(notebook: NotebookPage) -> list[int]:
    """The workgroup sizes of a device that the notebook opens."""
    notebook.wait_idle(120_000)
    sizes: list[int] = json.loads(notebook.run(_OPEN).inner_text())
    return sizes


def check_both_are_kept(notebook: NotebookPage) -> None:
    """The page stores what is typed, and the kernel what it has tuned."""
    keep(notebook, "kept = 5")
    expect(notebook.run(_TUNE)).to_have_text("True")
    expect(notebook.messages).to_have_count(0)
    keep(notebook, "kept = 6")


def test_notebooks_of_an_earlier_version_come_back_and_tuning_is_kept(site: Site) -> None:
    script = site.script()
    script.evaluate(_OLD_NOTEBOOKS)
    script.evaluate(_CLOSE)
    notebook = site.notebook()
    expect(notebook.cell(0)).to_contain_text("of_the_last = 2")
    assert sizes_in(notebook) == [256, 256]
    notebook.new()
    check_both_are_kept(notebook)
    found = script.evaluate(_EVERYTHING)
    assert found["browsergpu"] == {"notebooks": []}
    assert {"title first", "title last"} < set(found["browsergpu-notebooks"]["notebooks"])
    assert len(found["browsergpu-settings"]["settings"]) == 1


def test_tuning_of_an_earlier_version_is_read_and_notebooks_are_kept(site: Site) -> None:
    script = site.script()
    script.evaluate(_OLD_SETTINGS)
    script.evaluate(_CLOSE)
    notebook = site.notebook()
    expect(notebook.messages).to_have_count(0)
    assert sizes_in(notebook) == [64, 32]
    notebook.new()
    check_both_are_kept(notebook)
    found = script.evaluate(_EVERYTHING)
    assert "another text" in found["browsergpu"]["settings"]
    assert found["browsergpu-settings"] == {"settings": ['{"elementwise": 16, "reduction": 16}']}


@pytest.mark.all
@pytest.mark.parametrize("kernel", ["worker", "main"])
def test_a_page_without_the_notebook_keeps_tuning_beside_either_earlier_shape(
    site: Site, kernel: str
) -> None:
    script = site.script()
    script.evaluate(_OLD_NOTEBOOKS)
    bare = site.bare(kernel)  # while a tab of before has its connection open
    assert bare.run(_SIZES) == [256, 256]
    bare.run(_TUNE)
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [16, 16]
    assert script.evaluate(_EVERYTHING)["browsergpu"] == {
        "notebooks": ["title first", "title last"]
    }

    script.evaluate("""async () => {
      old.close();
      for (const { name } of await indexedDB.databases()) {
        await settled(indexedDB.deleteDatabase(name));
      }
    }""")
    script.evaluate(_OLD_SETTINGS)
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [64, 32]
    # What was taken over does not hang on the old database any more,
    script.evaluate("async () => { old.close(); "
                    "await settled(indexedDB.deleteDatabase('browsergpu')); }")  # fmt: skip
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [64, 32]
    # and what is forgotten is forgotten there too.
    script.evaluate(_OLD_SETTINGS)
    bare.run("forget_workgroup_sizes(device)")
    bare.run(_OPEN)
    assert bare.run(_SIZES) == [256, 256]
    assert script.evaluate(_EVERYTHING)["browsergpu"] == {"settings": ["another text"]}


def test_the_package_first_and_then_the_notebook(site: Site) -> None:
    """In a fresh browser, which has no database of before."""
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
    before = site.script()  # a tab that an earlier version left open, with its connection
    before.evaluate(_OLD_NOTEBOOKS)
    first = site.notebook(kernel=False)
    expect(first.cell(0)).to_contain_text("of_the_last = 2")
    second = site.notebook(kernel=False)
    expect(second.cell(0)).to_contain_text("Python on your GPU")
    second.new()
    keep(first, "in_the_first_tab = 1")
    keep(second, "in_the_second_tab = 2")

    # The tab of before still stores where it did; the next load finds it.
    before.evaluate("""async () => {
      await put(old, "notebooks", notebookOf("last", Date.now() + 9e6, "stored_meanwhile = 3"));
    }""")
    expect(site.notebook(kernel=False).cell(0)).to_contain_text("stored_meanwhile = 3")

    # A later page may change its database while these tabs are open, and they go on with it.
    version = before.evaluate("""async () => {
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


def test_a_browser_without_a_list_of_its_databases(site: Site) -> None:
    script = site.script()
    script.evaluate(_OLD_NOTEBOOKS)
    script.evaluate(_CLOSE)
    hide = "delete IDBFactory.prototype.databases;"
    page = site.page()
    page.add_init_script(hide)
    hold_kernels(page)
    notebook = NotebookPage(page, "")
    page.goto(script.url.replace("favicon.svg", ""))
    expect(notebook.cell(0)).to_contain_text("of_the_last = 2")
    script.evaluate("() => settled(indexedDB.deleteDatabase('browsergpu'))")
    page.reload()
    expect(notebook.cell(0)).to_contain_text("of_the_last = 2")
    assert "browsergpu" not in script.evaluate(_EVERYTHING)
