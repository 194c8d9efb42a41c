"""The kernel of the notebook page: interrupt, restart, limits, death, the machine API."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from harness.notebook import NotebookPage, hold_kernels
from harness.patience import PATIENCE_MS
from harness.snapshots import starts_from_a_snapshot
from playwright.sync_api import Page, Route, expect

INTERRUPTIBLE = {
    "computing": "while True: pass",
    "printing": "while True: print('x' * 50)",
    "awaiting": "import asyncio\nawait asyncio.Event().wait()",
    "awaiting over and over": "import asyncio\nwhile True: await asyncio.sleep(0)",
    "sleeping": "import time\ntime.sleep(600)",
    "blocking": (
        "import asyncio\nfrom pyodide.ffi import run_sync\nrun_sync(asyncio.Event().wait())"
    ),
    "waiting for a promise": (
        "from pyodide.code import run_js\nfrom pyodide.ffi import run_sync\n"
        "run_sync(run_js('() => [new Promise(() => {})]')()[0])"
    ),
    "computing in another task": (
        "import asyncio\nasync def busy():\n    while True: pass\nawait asyncio.gather(busy())"
    ),
    "computing in a callback": (
        "import asyncio\ndef busy():\n    while True: pass\n"
        "asyncio.get_running_loop().call_soon(busy)\nawait asyncio.Event().wait()"
    ),
    # KeyboardInterrupt in the event loop's code would lose a step of the calling task.
    "computing in the event loop": (
        "import asyncio\nloop = asyncio.get_running_loop()\ndef busy(*args, **options):\n"
        "    del loop.call_soon\n    while True: pass\n"
        "loop.call_soon = busy\nawait asyncio.sleep(0)"
    ),
}


def test_context_variables_last_from_cell_to_cell(notebook: NotebookPage) -> None:
    notebook.run("import decimal\ndecimal.getcontext().prec = 4")
    expect(notebook.run("decimal.Decimal(1) / 3")).to_have_text("Decimal('0.3333')")


@pytest.mark.firefox
def test_a_returning_visitor_starts_from_memory_with_ipython(notebook: NotebookPage) -> None:
    assert starts_from_a_snapshot(notebook.page)
    # micropip refers to this page's packages, and not to those of the page that made the snapshot.
    expect(notebook.run("import micropip\n'numpy' in micropip.list()")).to_have_text("True")


@pytest.mark.firefox
@pytest.mark.parametrize("doing", INTERRUPTIBLE)
def test_interrupt_ends_code_and_keeps_the_variables(notebook: NotebookPage, doing: str) -> None:
    notebook.run("kept = 'kept'")
    index = notebook.start(INTERRUPTIBLE[doing])
    notebook.wait_state("busy")
    # The state turns busy before Python starts to wait.
    notebook.page.wait_for_timeout(300)
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.output(index).locator(".output-traceback").first).to_contain_text(
        "KeyboardInterrupt"
    )
    expect(notebook.run("kept")).to_have_text("'kept'")


#: Ways to raise the signal in the event loop's own code, without a frame of the cell.
INTERRUPTS_OF_THE_LOOP = {
    "in a callback": "loop.call_later(0.2, signal.raise_signal, signal.SIGINT)",
    "before a callback": (
        "loop._install_asyncgen_hooks = functools.partial(signal.raise_signal, signal.SIGINT)"
    ),
}


@pytest.mark.firefox
@pytest.mark.parametrize("waiting", ["time.sleep(0)", "await asyncio.sleep(0)"])
@pytest.mark.parametrize("way", INTERRUPTS_OF_THE_LOOP)
def test_an_interrupt_in_the_event_loops_code_ends_the_cell(
    notebook: NotebookPage, way: str, waiting: str
) -> None:
    index = notebook.start(
        "import asyncio, functools, signal, time\nloop = asyncio.get_running_loop()\n"
        f"try:\n    {INTERRUPTS_OF_THE_LOOP[way]}\n    while True:\n        {waiting}\n"
        "finally:\n    vars(loop).pop('_install_asyncgen_hooks', None)\n    ended = True"
    )
    notebook.wait_idle()
    expect(notebook.output(index).locator(".output-traceback").first).to_contain_text(
        "KeyboardInterrupt"
    )
    expect(notebook.run("ended")).to_have_text("True")


@pytest.mark.firefox
def test_interrupt_at_once_is_not_lost(notebook: NotebookPage) -> None:
    notebook.start("while True: pass")
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.run("1 + 1")).to_have_text("2")


@pytest.mark.firefox
@pytest.mark.parametrize("before", ["nothing", "askForOutput"])
def test_interrupt_between_python_reading_the_signal_and_clearing_it_is_not_lost(
    notebook: NotebookPage, before: str
) -> None:
    seen = notebook.page.evaluate(
        """async (before) => {
            const ways = await import("/kernel/interruption.js");
            const buffer = new SharedArrayBuffer(ways.SHARED_BYTES);
            let polled;
            const pyodide = { setInterruptBuffer: (signal) => { polled = signal; } };
            new ways.Interruption(pyodide, buffer).listen();
            ways[before]?.(buffer);
            // As CPython polls: it reads, then clears.
            const poll = (between = () => {}) => {
                const signal = polled[0];
                between();
                polled[0] = 0;
                return signal;
            };
            return [poll(() => ways.raiseInterrupt(buffer, 1)), poll(), poll()];
        }""",
        before,
    )
    assert seen == [{"nothing": 0, "askForOutput": signal.SIGALRM}[before], signal.SIGINT, 0]


@pytest.mark.firefox
def test_an_interrupt_during_a_call_of_the_kernel_itself_stays_for_the_run(
    notebook: NotebookPage,
) -> None:
    seen = notebook.page.evaluate(
        """async () => {
            const ways = await import("/kernel/interruption.js");
            const buffer = new SharedArrayBuffer(ways.SHARED_BYTES);
            let polled;
            const pyodide = { setInterruptBuffer: (signal) => { polled = signal; } };
            const interruption = new ways.Interruption(pyodide, buffer);
            interruption.listen();
            const seen = [interruption.aside(() => {
                ways.raiseInterrupt(buffer, 1);
                return polled?.[0] ?? "not listened to";
            })];
            seen.push(polled[0]);
            try {
                interruption.aside(() => { throw new Error(); });
            } catch {
                seen.push(polled[0]);
            }
            interruption.ignore();
            interruption.aside(() => {});
            return [...seen, polled?.[0] ?? "not listened to"];
        }"""
    )
    assert seen == ["not listened to", signal.SIGINT, signal.SIGINT, "not listened to"]


@pytest.mark.firefox
def test_interrupt_while_imports_are_looked_up_is_not_lost(notebook: NotebookPage) -> None:
    # Searching imports in a text this long takes longer than the page waits for an answer.
    notebook.page.evaluate(
        "code => { window.ending = browsergpu.run(code).catch((error) => error.message); }",
        "x = 1\n" * 100_000 + "while True: pass",
    )
    notebook.press("Interrupt")
    notebook.wait_idle()
    assert notebook.page.evaluate("window.ending").strip() == "KeyboardInterrupt"
    expect(notebook.run("1 + 1")).to_have_text("2")


#: Makes this kernel wait before it begins the code of a cell.
_SLOW_BEGIN = """
import asyncio
from notebook_kernel.runner import Runner
begin = Runner.run
async def late(self, *given):
    await asyncio.sleep(2)
    return await begin(self, *given)
Runner.run = late
"""


@pytest.mark.firefox
def test_interrupt_just_before_a_cell_begins_is_not_lost(notebook: NotebookPage) -> None:
    notebook.run(_SLOW_BEGIN)
    notebook.start("await asyncio.Event().wait()")
    notebook.wait_state("busy")
    notebook.press("Interrupt")
    notebook.wait_finished()
    expect(notebook.output(1)).to_contain_text("KeyboardInterrupt")
    expect(notebook.run("1 + 1")).to_have_text("2")


#: Makes code analysis slow in this kernel, so that an interrupt can hit it.
_SLOW_ANALYSIS = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        end = time.monotonic() + 5
        while name == "jedi" and time.monotonic() < end: pass
sys.meta_path.insert(0, Slow())
"""


@pytest.mark.firefox
@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"], ids=["completion", "documentation"])
def test_an_interrupt_meets_the_cell_and_no_question_that_was_asked_before_it(
    notebook: NotebookPage, key: str
) -> None:
    notebook.restart()
    notebook.wait_idle()
    notebook.run(_SLOW_ANALYSIS)
    # jedi analyses literals. It loads only when the cell is already running.
    held: list[Route] = []
    notebook.page.route("**/pyodide/jedi-*", lambda route: held.append(route))
    index = notebook.cells.count() - 1
    notebook.fill(index, "import time; time.sleep(600); 'text'.upper")
    with notebook.page.expect_request("**/pyodide/jedi-*"):
        notebook.page.keyboard.press(key)
    notebook.page.keyboard.press("Control+Enter")
    notebook.wait_state("busy")
    with notebook.page.expect_response("**/pyodide/jedi-*"):
        held.pop().continue_()
    notebook.page.unroute("**/pyodide/jedi-*")
    notebook.page.wait_for_timeout(1000)
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.output(index).locator(".output-traceback").first).to_contain_text(
        "KeyboardInterrupt"
    )
    expect(notebook.run("1 + 1")).to_have_text("2")


@pytest.mark.firefox
def test_interrupt_drops_the_queue(notebook: NotebookPage) -> None:
    notebook.run("ran = []")
    notebook.start("while True: pass")
    queued = notebook.start("ran.append(1)")
    expect(notebook.cell(queued).locator(".cell-count")).to_have_text("[ ]")
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.cell(queued).locator(".cell-count")).to_have_text("")
    expect(notebook.run("ran")).to_have_text("[]")


@pytest.mark.firefox
def test_code_that_resists_an_interrupt_ends_with_a_restart(notebook: NotebookPage) -> None:
    notebook.run("gone = 1")
    index = notebook.start(
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"
    )
    notebook.wait_state("busy")
    notebook.press("Interrupt")
    message = notebook.messages.filter(has_text="does not react")
    expect(message).to_be_visible()
    message.get_by_role("button", name="Restart").click()
    notebook.wait_idle()
    expect(notebook.output(index)).to_contain_text("restarted")
    expect(notebook.run("gone").locator(".output-traceback")).to_contain_text("NameError")
    expect(notebook.cell(notebook.cells.count() - 2).locator(".cell-count")).to_have_text("[1]")


@pytest.mark.firefox
def test_a_runaway_print_keeps_its_beginning_and_its_end(notebook: NotebookPage) -> None:
    output = notebook.run("for i in range(200_000): print(i)\n'value'")
    expect(output).to_contain_text("characters are left out here")
    text = output.inner_text()
    assert text.startswith("0\n1\n2\n")
    assert text.rstrip().endswith("199998\n199999\n\n'value'") or "199999" in text[-40:]
    assert len(text) < 300_000
    # The end of the output is visible.
    for pre in output.locator(".stdout pre").all():
        notebook.page.wait_for_function(
            "(pre) => pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2",
            arg=pre.element_handle(),
        )


def test_displays_are_limited(notebook: NotebookPage) -> None:
    output = notebook.run("for i in range(250): display(i)")
    expect(output.locator(".display_data")).to_have_count(200)
    expect(output).to_contain_text("only the first 200 displays")


def test_a_progress_bar_overwrites_its_line(notebook: NotebookPage) -> None:
    output = notebook.run("print('10%', end='\\r'); print('99%', end='\\r'); print('done')")
    expect(output.locator("pre")).to_have_text("done\n")


def test_the_status_bar_tells_adapter_features_and_memory(notebook: NotebookPage) -> None:
    footer = notebook.page.locator("footer")
    expect(footer).to_contain_text("swiftshader")
    footer.get_by_role("button", name="features").click()
    dialog = notebook.page.get_by_role("dialog")
    expect(dialog).to_contain_text("subgroups")
    dialog.get_by_role("button", name="Close").click()
    notebook.run(
        "import browsergpu\nbackend = browsergpu.WasmBackend()\nbackend.init()\n"
        "ptr = backend.alloc(3_000_000)"
    )
    expect(footer).to_contain_text("GPU memory 3.")
    notebook.run("backend.free(ptr)\nbackend.close()")
    expect(footer).not_to_contain_text("GPU memory 3.")


RUN = "code => globalThis.browsergpu.run(code)"


def test_machine_runs_and_cells_share_namespace_and_queue(notebook: NotebookPage) -> None:
    notebook.run("shared = ['cell']")
    notebook.start("import asyncio\nawait asyncio.sleep(0.2)\nshared.append('slow cell')")
    assert notebook.page.evaluate(RUN, "shared") == "['cell', 'slow cell']"
    assert notebook.page.evaluate(RUN, "shared = 'from a machine'") == ""
    expect(notebook.run("shared")).to_have_text("'from a machine'")


@pytest.mark.firefox
def test_a_restart_rejects_running_calls_and_resets_ready(notebook: NotebookPage) -> None:
    notebook.page.evaluate(
        f"() => {{ window.ending = ({RUN})('while True: pass').catch((error) => error.message); }}"
    )
    notebook.wait_state("busy")
    notebook.restart()
    assert "restarted" in notebook.page.evaluate("window.ending")
    assert notebook.page.evaluate("browsergpu.ready.then(() => browsergpu.run('2 + 3'))") == "5"
    # The browser stores browsergpu as compiled bytecode, with the flag for unchecked files.
    flags = "import browsergpu\nopen(browsergpu.__cached__, 'rb').read()[4:8]"
    assert notebook.page.evaluate(RUN, flags) == repr(bytes([1, 0, 0, 0]))


def test_who_waits_for_a_kernel_gets_the_one_that_takes_its_place(
    new_page: Callable[..., Page], site_url: str
) -> None:
    notebook = NotebookPage(new_page(visited=True), site_url)
    hold_kernels(notebook.page)
    notebook.page.goto(f"{site_url}/")
    notebook.wait_state("loading")
    notebook.page.evaluate(
        """() => {
          browsergpu.ready.then(() => browsergpu.run("2 + 3")).then((sum) => { window.sum = sum; });
          // Ends with the first kernel, which was given it.
          window.lost = browsergpu.run("1").catch((error) => error.message);
        }"""
    )
    notebook.page.unroute("**/pyodide/**")
    notebook.restart()
    notebook.page.wait_for_function("window.sum === '5'")
    assert "restarted" in notebook.page.evaluate("window.lost")


@pytest.mark.provokes_errors
def test_a_crashed_interpreter_is_reported_and_restarted(notebook: NotebookPage) -> None:
    # Without Python's recursion limit, the recursion overflows the WebAssembly stack.
    notebook.start(
        "import sys\nsys.setrecursionlimit(10**8)\ndef deeper(n):\n"
        "    return deeper(n + 1)\ndeeper(0)"
    )
    notebook.wait_state("dead")
    expect(notebook.messages.filter(has_text="The kernel stopped")).to_be_visible()
    notebook.drop([{"name": "late.txt", "type": "", "bytes": [52, 50]}])
    told = notebook.messages.filter(has_text="late.txt could not be handed to Python")
    expect(told).to_contain_text("The kernel is not running. Restart it first.")
    notebook.restart()
    notebook.wait_idle()
    expect(notebook.run("1 + 1")).to_have_text("2")


@pytest.mark.provokes_errors
def test_a_kernel_that_cannot_start_says_why_and_can_be_tried_again(
    new_page: Callable[..., Page], site_url: str
) -> None:
    notebook = NotebookPage(new_page(visited=True), site_url)
    notebook.page.route("**/wheel/index.json", lambda route: route.fulfill(status=404))
    notebook.page.goto(f"{site_url}/")
    notebook.wait_state("dead")
    message = notebook.messages.filter(has_text="wheel/index.json could not be loaded: HTTP 404")
    told = notebook.page.evaluate("browsergpu.ready.catch((error) => error.message)")
    assert "HTTP 404" in told
    notebook.page.unroute("**/wheel/index.json")
    message.get_by_role("button", name="Restart").click()
    notebook.wait_idle()
    assert notebook.page.evaluate("browsergpu.run('1 + 1')") == "2"


@pytest.mark.all
def test_a_browser_that_keeps_nothing_boots(new_page: Callable[..., Page], site_url: str) -> None:
    """As in some private windows."""
    notebook = NotebookPage(new_page(), site_url)
    notebook.page.route(
        "**/kernel/kept.js",
        lambda route: route.fulfill(
            body=route.fetch().text().replace("caches.open(kind)", "null.refused"),
            content_type="text/javascript",
        ),
    )
    notebook.open()
    assert notebook.page.evaluate("browsergpu.run('1 + 1')") == "2"


@pytest.mark.all
@pytest.mark.parametrize("spoilt", ["nothing", "zeros"])
def test_damaged_stored_files_are_made_again(
    new_page: Callable[..., Page], site_url: str, spoilt: str
) -> None:
    page = new_page(visited=True)
    page.goto(f"{site_url}/favicon.svg")
    page.evaluate(
        """async (size) => {
          for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const key of await cache.keys()) {
              await cache.put(key, new Response(new Uint8Array(size)));
            }
          }
        }""",
        0 if spoilt == "nothing" else 1 << 20,
    )
    notebook = NotebookPage(page, site_url)
    notebook.open()
    assert notebook.page.evaluate("browsergpu.run('1 + 1')") == "2"


@pytest.mark.firefox
def test_boot_shows_the_loading_progress(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    page.add_init_script(
        """globalThis.stages = [];
        document.addEventListener("DOMContentLoaded", () => {
          new MutationObserver(() => {
            const box = document.querySelector(".boot");
            if (box && !box.hidden) stages.push(box.innerText + " " +
              (box.querySelector("progress").position));
          }).observe(document.body, { subtree: true, childList: true, attributes: true });
        });"""
    )
    page.goto(f"{site_url}/")
    kernel = page.locator("footer .kernel-state")
    expect(kernel).to_have_attribute("data-state", "idle", timeout=PATIENCE_MS)
    expect(page.locator(".boot")).to_be_hidden()
    stages = page.evaluate("stages")
    seen = " | ".join(stages)
    for what in ("Python", "NumPy", "browsergpu", " MB of "):
        assert what in seen, what
    positions = [float(stage.rsplit(" ", 1)[1]) for stage in stages]
    known = [position for position in positions if position >= 0]
    assert known == sorted(known)
    assert known[-1] == 1.0
