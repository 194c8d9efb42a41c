"""The README's examples do what they say, and names files that exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

REPOSITORY = Path(__file__).resolve().parent.parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def examples(heading: str) -> list[str]:
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_the_examples(site_url: str, new_page: Callable[..., Page]) -> None:
    (arrays,) = examples("A first example")
    pointers, profile = examples("More than one way to compute")
    page = new_page()
    page.goto(f"{site_url}/?notebook=none")
    page.evaluate("browsergpu.ready")

    def run(code: str) -> str:
        return str(page.evaluate("code => browsergpu.run(code)", code))

    for code in (arrays, pointers):
        smaller = code.replace("1024", "96")  # SwiftShader and NumPy without BLAS are slow
        assert smaller != code
        difference = re.sub(r"np\.float\d\d", "", run(smaller))
        assert 0 <= float(re.search(r"[\d.e+-]+", difference)[0]) < 1e-3
    run(profile)
    assert "gemm" in run("p.table()")


WATCH = '''
import gc
from pyodide.code import run_js
gc.disable()  # references must do
run_js("""
  globalThis.devices = [];
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    const entry = { gone: "" };
    device.lost.then(({ reason }) => { entry.gone = reason; });
    devices.push(entry);
    return device;
  };
""")
'''


def test_the_example_of_pointers_run_again_and_again_leaves_one_device_open(
    site_url: str, new_page: Callable[..., Page]
) -> None:
    pointers, _ = examples("More than one way to compute")
    page = new_page()
    page.goto(f"{site_url}/?notebook=none")
    page.evaluate("browsergpu.ready")

    def run(code: str) -> str:
        return str(page.evaluate("code => browsergpu.run(code)", code))

    run(WATCH)
    for _ in range(4):
        run(pointers.replace("1024", "32"))
    gone = run(
        "import asyncio, js\n"
        "while not all(entry.gone for entry in list(js.devices)[:-1]):\n"
        "    await asyncio.sleep(0.01)\n"
        "str([entry.gone for entry in js.devices])"
    )
    assert "['destroyed', 'destroyed', 'destroyed', '']" in gone


def test_the_files_it_names_exist() -> None:
    names = re.findall(r"\]\(([^)#:]+)\)", README) + re.findall(r"`((?:\w+/)+[\w.]*)`", README)
    assert len(names) > 8
    missing = [
        name
        for name in names
        if not name.startswith((".cache", "wheel"))
        and not (REPOSITORY / name).exists()
        and not (REPOSITORY / "tests" / "browser" / name).exists()
    ]
    assert missing == []
