"""A crash of the GPU process, caused through DevTools, and recovery from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from harness.bare import KERNELS, BarePage
from harness.lab import Lab
from harness.notebook import NotebookPage
from playwright.sync_api import Browser, expect

# Without these flags, Chromium gives no adapter after two crashes of the GPU process.
FORGIVING = ("--disable-domain-blocking-for-3d-apis", "--disable-gpu-process-crash-limit")

SETUP = """
import asyncio
import numpy as np
import browsergpu
from browsergpu import WasmBackend
from browsergpu.errors import *

backend = WasmBackend()
await backend.init_async()
data = np.linspace(-2, 2, 1000, dtype=np.float32)
kept = backend.alloc(4000, keep=True, label="weights")
other = backend.alloc(4000, label="scratch")
backend.copy_htod(kept, data)
backend.copy_htod(other, data)
backend.synchronize()
"""

# Computes until the device is lost. Returns how each wait ended.
WORK = """
async def compute():
    result = np.zeros(1000, np.float32)
    while True:
        backend.unary("neg", other, other, 1000)
        await backend.copy_dtoh_async(result, other)

async def wait():
    while True:
        backend.unary("abs", other, other, 1000)
        await backend.synchronize_async()

async def allocate():
    while True:
        backend.free(backend.alloc(1 << 21))
        backend.device.memory.trim()
        await asyncio.sleep(0)

async def upload():
    while True:
        backend.copy_htod(other, data)
        await asyncio.sleep(0)

works = [compute(), compute(), wait(), allocate(), upload()]
ended = await asyncio.wait_for(asyncio.gather(*works, return_exceptions=True), 240)
[type(error).__name__ for error in ended]
"""


@pytest.fixture(scope="module")
def forgiving(lab: Lab) -> Iterator[Browser]:
    """A browser that gives adapters however often its GPU process crashes."""
    with lab.own_browser(*FORGIVING) as browser:
        yield browser


@contextmanager
def page_of(lab: Lab, browser: Browser, kernel: str) -> Iterator[BarePage]:
    """Open a bare page in this test's browser, with a backend at work."""
    context = browser.new_context()
    bare = BarePage(context.new_page(), lab.site_url, kernel)
    bare.boot(["numpy", "micropip"])
    bare.install([lab.wheel_url])
    bare.run(SETUP)
    yield bare
    context.close()


def crash_the_gpu(browser: Browser) -> None:
    """Crash the browser's GPU process."""
    session = browser.new_browser_cdp_session()
    session.send("Browser.crashGpuProcess")
    session.detach()


@pytest.fixture(scope="module", params=KERNELS)
def bare(request: pytest.FixtureRequest, lab: Lab, forgiving: Browser) -> Iterator[BarePage]:
    """A page of that browser, shared by the tests of one kernel because booting takes seconds."""
    with page_of(lab, forgiving, request.param) as bare:
        yield bare


def test_pending_calls_raise_and_recover_restores_kept_buffers(
    forgiving: Browser, bare: BarePage
) -> None:
    for _ in range(2):  # a recovered device can be lost and recovered again
        working = bare.start("run", WORK)
        bare.page.wait_for_timeout(500)
        assert not bare.settled(working)
        crash_the_gpu(forgiving)
        assert bare.end(working, what="all calls to end") == ["DeviceLost"] * 5
        assert bare.run("""
            try:
                backend.unary("neg", kept, kept, 1000)
            except DeviceLost as error:
                told = str(error)
            told
        """).startswith("unary: the GPU device was lost")

        bare.run("await backend.recover()")
        assert bare.run("""
            result = np.zeros(1000, np.float32)
            backend.copy_dtoh(result, kept)
            bool((result == data).all())
        """)
        assert "'scratch'" in bare.run("""
            try:
                backend.copy_dtoh(result, other)
            except DeviceLost as error:
                told = str(error)
            told
        """)
        bare.run("""
            backend.free(other)
            other = backend.alloc(4000, label="scratch")
            backend.unary("abs", kept, other, 1000)
            backend.copy_dtoh(result, other)
            assert (result == abs(data)).all()
            backend.draw(other, 10, 10, 3, "gpu-canvas")
            backend.synchronize()
        """)


@pytest.mark.parametrize("bare", ["worker"], indirect=True)
def test_with_retry_works_through_a_crash(forgiving: Browser, bare: BarePage) -> None:
    working = bare.start(
        "run",
        """
        attempts = 0

        async def work():
            global attempts
            attempts += 1
            result = np.zeros(1000, np.float32)
            for _ in range(20 if attempts > 1 else 10**9):
                backend.unary("neg", kept, kept, 1000)
                await backend.copy_dtoh_async(result[:1], kept)
            await backend.copy_dtoh_async(result, kept)
            return result

        result = await asyncio.wait_for(backend.with_retry(work), 240)
        [attempts, bool((abs(result) == abs(data)).all())]
        """,
    )
    bare.page.wait_for_timeout(500)
    crash_the_gpu(forgiving)
    assert bare.end(working, what="the second attempt") == [2, True]


def test_where_the_browser_gives_no_adapter_any_more_errors_say_to_reload(lab: Lab) -> None:
    with lab.own_browser() as browser, page_of(lab, browser, "worker") as bare:
        for crash in range(5):
            working = bare.start("run", WORK)
            bare.page.wait_for_timeout(500)
            crash_the_gpu(browser)
            assert bare.end(working, what="all calls to end") == ["DeviceLost"] * 5
            if not bare.run("await browsergpu.enumerate_adapters_async() != []"):
                break
            assert crash < 4, "Chromium gives adapters however often the GPU process crashes"
            bare.run("""
                await backend.recover()
                backend.free(other)
                other = backend.alloc(4000)
            """)
        told: list[str] = bare.run("""
            async def told_by(call):
                try:
                    await asyncio.wait_for(call(), 240)
                except NoAdapter as error:
                    return str(error)
                return "nothing"

            [
                await told_by(backend.recover),
                await told_by(WasmBackend().init_async),
                await told_by(WasmBackend(adapter_index=0).init_async),
                await told_by(browsergpu.get_best_adapter_async),
                await told_by(lambda: browsergpu.get_adapter_info_async(0)),
                str(await browsergpu.enumerate_adapters_async()),
            ]
        """)
        *messages, adapters = told
        for message in messages:
            assert "reload the page" in message.lower()
        assert adapters == "[]"
        # Only the GPU is broken: lost objects still raise DeviceLost, and can be freed and closed.
        assert bare.run("""
            try:
                backend.synchronize()
            except DeviceLost:
                backend.free(kept)
                backend.close()
            backend.is_initialized
        """) is False  # fmt: skip


def test_the_notebook_tells_that_the_gpu_was_lost_and_restarts(
    forgiving: Browser, lab: Lab
) -> None:
    context = forgiving.new_context()
    notebook = NotebookPage(context.new_page(), lab.site_url)
    notebook.open()
    notebook.new()
    notebook.run("import browsergpu as bg\nx = bg.ones(8)\nbg.eval(x)")
    crash_the_gpu(forgiving)
    status = notebook.page.locator("footer")
    expect(status).to_contain_text("The GPU was lost, with all arrays on it.")
    shown = notebook.run("x")
    expect(shown.locator(".output-traceback").first).to_contain_text("DeviceLost")
    expect(shown.locator(".stderr")).to_have_count(0)
    expect(notebook.run("print('not reached')\ndisplay(x)")).to_contain_text("DeviceLost")
    status.get_by_role("button", name="Restart the kernel").click()
    notebook.wait_state("loading")
    expect(status).not_to_contain_text("The GPU was lost")
    notebook.wait_idle()
    shown = notebook.run("import browsergpu as bg\nfloat(bg.sum(bg.ones(8)))")
    expect(shown).to_have_text("8.0")
    context.close()
