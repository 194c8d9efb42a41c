"""`/?notebook=none` and `globalThis.browsergpu`: the page for programs that drive it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.pixels import screenshot
from harness.problems import assert_none
from playwright.sync_api import Error, Page, expect


@pytest.fixture(scope="module")
def machine(lab: Lab) -> Iterator[Page]:
    problems: list[str] = []
    page = lab.new_page(problems.append, visited=True)
    page.goto(f"{lab.site_url}/?notebook=none")
    page.evaluate("browsergpu.ready")
    yield page
    page.context.close()
    assert_none(problems)


def run(page: Page, code: str) -> str:
    return page.evaluate("(code) => browsergpu.run(code)", code)


@pytest.mark.firefox
@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", "2"),
        ("'as itself'", "as itself"),
        ("None", ""),
        ("x = 1", ""),
        ("", ""),
        ("import numpy as np\nnp.arange(3)", "array([0, 1, 2])"),
        ("import asyncio\nawait asyncio.sleep(0, [1])", "[1]"),
        ("'é\U0001f600' * 2", "é\U0001f600é\U0001f600"),
    ],
)
def test_the_last_expression_comes_back(machine: Page, code: str, result: str) -> None:
    assert run(machine, code) == result


def test_a_failure_rejects_with_the_traceback(machine: Page) -> None:
    with pytest.raises(Error) as failed:
        run(machine, "def f():\n    raise ValueError('reason')\nf()")
    for part in ("Traceback", "line 2, in f", "ValueError: reason"):
        assert part in failed.value.message


def test_only_text_is_code(machine: Page) -> None:
    told = machine.evaluate("browsergpu.run(5).catch((error) => error.message)")
    assert "takes Python code as a string, not number" in told


def test_runs_are_done_in_the_order_they_came(machine: Page) -> None:
    results = machine.evaluate(
        """() => Promise.all([
          browsergpu.run("order = []\\nimport asyncio\\nawait asyncio.sleep(0.05)"),
          browsergpu.run("order.append(1)"),
          browsergpu.run("order.append(2)\\norder"),
        ])"""
    )
    assert results[2] == "[1, 2]"


@pytest.mark.firefox
def test_printed_text_is_shown(machine: Page) -> None:
    run(machine, "print('printed by a machine')")
    expect(machine.get_by_role("log")).to_contain_text("printed by a machine")


def test_only_kernel_and_canvas_are_there(machine: Page) -> None:
    assert machine.locator(".cell, .cm-editor").count() == 0
    expect(machine.locator("canvas#gpu-canvas")).to_be_visible()


@pytest.mark.firefox
def test_it_computes_on_the_gpu_and_draws(machine: Page) -> None:
    drawn = run(
        machine,
        """
        import browsergpu
        import numpy as np

        backend = await browsergpu.WasmBackend.init_from_canvas("gpu-canvas")
        image = np.zeros((32, 64, 3), np.float32)
        image[..., 1] = 1
        ptr = backend.alloc(image.nbytes)
        backend.copy_htod(ptr, image)
        backend.draw(ptr, 32, 64, 3)
        back = np.empty_like(image)
        backend.copy_dtoh(back, ptr)
        bool((back == image).all())
        """.replace("\n        ", "\n"),
    )
    assert drawn == "True"
    canvas = machine.locator("#gpu-canvas")
    for _ in range(50):
        pixels = screenshot(machine, canvas)
        if pixels.rgb(pixels.width // 2, pixels.height // 2) == (0, 255, 0):
            break
        machine.wait_for_timeout(100)
    assert pixels.rgb(pixels.width // 2, pixels.height // 2) == (0, 255, 0)


@pytest.mark.firefox
def test_ready_may_be_asked_for_at_once(lab: Lab) -> None:
    problems: list[str] = []
    page = lab.new_page(problems.append, visited=True)
    page.goto(f"{lab.site_url}/?notebook=none", wait_until="commit")
    page.wait_for_function("globalThis.browsergpu")
    assert page.evaluate("browsergpu.ready.then(() => browsergpu.run('3 * 3'))") == "9"
    page.context.close()
    assert_none(problems)
