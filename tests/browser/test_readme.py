"""The examples of README, other-interfaces.md and the guides work, and their files exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.problems import assert_none

REPOSITORY = Path(__file__).resolve().parent.parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DOCS = REPOSITORY / "docs"
INTERFACES = (DOCS / "other-interfaces.md").read_text(encoding="utf-8")
#: Pages whose examples need more than a page's Python, and the tests that run them, if any.
ELSEWHERE = {
    "consumers": "xarray and einops: tests/unit",
    "jupyterlite": "a site of JupyterLite: test_jupyterlite.py",
    "marimo": "marimo: test_marimo.py",
    "native": "several GPUs",
    "notebook": "the notebook: test_widgets.py, test_plot.py",
    "other-interfaces": "test_the_examples",
    "pyscript": "PyScript: test_pyscript.py",
    "scale": "Dask: tests/dask",
    "tutorials/scaling": "Dask: tests/dask",
}
GUIDES = [
    name
    for page in sorted(DOCS.rglob("*.md"))
    if "```python\n" in page.read_text(encoding="utf-8")
    and (name := page.relative_to(DOCS).with_suffix("").as_posix()) not in ELSEWHERE
]

#: Compares a value with its text in the example; floats are compared to the digits given there.
CHECKS = """
import math


def gives(value, said):
    if isinstance(value, float) and "." in said:
        digits = len(said.partition(".")[2])
        assert math.isclose(value, float(said), abs_tol=0.51 * 10**-digits), value
    else:
        assert repr(value) == said, value
"""
RAISES = """
try:
    {code}
except {said}:
    pass
else:
    raise AssertionError('{said} was not raised')
"""


def checked(code: str) -> str:
    """Return an example's code with its result comments turned into assertions."""
    lines = []
    for line in code.splitlines():
        said = re.fullmatch(r"(\S.*?)  # (→|raises) (.+)", line)
        if said is None:
            lines.append(line)
        elif said[2] == "→":
            lines.append(f"gives({said[1]}, {said[3]!r})")
        else:
            lines.append(RAISES.format(code=said[1], said=said[3]))
    return "\n".join(lines)


def example(page: str, heading: str) -> str:
    """Return the only Python block in a section of a page."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return str(code)


@pytest.fixture(scope="module")
def run(lab: Lab) -> Iterator[Callable[[str], str]]:
    """A function that runs code in a page shared by all tests, because booting takes seconds."""
    found: list[str] = []
    page = lab.new_page(found.append, visited=True)
    page.goto(f"{lab.site_url}/?notebook=none")
    page.evaluate("browsergpu.ready")
    yield lambda code: str(page.evaluate("code => browsergpu.run(code)", code))
    page.context.close()
    assert_none(found)


def test_the_examples(run: Callable[[str], str]) -> None:
    for code in (example(README, "A first example"), example(INTERFACES, "WasmBackend")):
        smaller = code.replace("1024", "96")  # SwiftShader and NumPy without BLAS are slow
        assert smaller != code
        difference = re.sub(r"np\.float\d\d", "", run(smaller))
        assert 0 <= float(re.search(r"[\d.e+-]+", difference)[0]) < 1e-3
    for heading in ("Profile", "Warm up", "Recover"):
        run(example(INTERFACES, heading))
    registry = (REPOSITORY / "py" / "README.md").read_text(encoding="utf-8")
    _install, arrays = re.findall(r"```python\n(.*?)```", registry, re.DOTALL)
    assert "array(" in run(arrays.replace("512", "96"))
    assert "gemm" in run("p.table()")


@pytest.mark.parametrize("name", GUIDES)
def test_the_examples_of_a_guide(name: str, run: Callable[[str], str]) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    run(CHECKS)
    for code in found:
        run(checked(code))


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
    run: Callable[[str], str],
) -> None:
    pointers = example(INTERFACES, "WasmBackend")
    run(WATCH)
    for _ in range(4):
        run(pointers.replace("1024", "32"))
    gone = run(
        "import asyncio, js\n"
        "while not all(entry.gone for entry in list(js.devices)[:-1]):\n"
        "    await asyncio.sleep(0.01)\n"
        "str([entry.gone for entry in js.devices])"
    )
    run("gc.enable()")
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


@pytest.mark.parametrize("guide", sorted(DOCS.rglob("*.md")), ids=lambda guide: guide.stem)
def test_the_files_that_a_guide_names_exist(guide: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", guide.read_text(encoding="utf-8"))
    missing = [link for link in links if not (guide.parent / link).exists()]
    # MkDocs checks links to the API reference, which is built.
    assert [link for link in missing if "reference/" not in link] == []
