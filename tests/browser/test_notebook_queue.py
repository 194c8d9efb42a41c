"""Interrupts while the GPU has much queued work, and errors of broken shaders."""

from __future__ import annotations

import re

import pytest
from harness.notebook import NotebookPage
from playwright.sync_api import expect

N = 256
PRODUCTS = 30_000  # half a minute on any processor; recording takes a second
MOST_LEFT = 300

#: Code that computes products, by interface: setup, one product, its device.
WAYS = {
    "arrays": (
        f"import browsergpu as bg\na, b = bg.ones(({N}, {N})), bg.ones(({N}, {N}))",
        "c = a @ b",
        "a.device",
    ),
    "executor": (
        "import browsergpu\nbackend = browsergpu.WasmBackend()\nbackend.init()\n"
        f"run = browsergpu.KernelExecutor(backend)\na = run.full(({N}, {N}), 1.0)",
        "c = run.matmul(a, a)",
        "backend.device",
    ),
    "tensors": (
        "import browsergpu\nbackend = browsergpu.WasmBackend()\nbackend.init()\n"
        "t = browsergpu.TensorBackend(backend)\n"
        f"a, c = t.alloc_tensor(({N}, {N}), 'f32'), t.alloc_tensor(({N}, {N}), 'f32')",
        "t.matmul(a, a, c)",
        "backend.device",
    ),
    "pointers": (
        "import browsergpu\nbackend = browsergpu.WasmBackend()\nbackend.init()\n"
        f"a, c = backend.alloc({4 * N * N}), backend.alloc({4 * N * N})",
        f"backend.gemm('no_trans', 'no_trans', {N}, {N}, {N}, 1.0, a, {N}, a, {N}, 0.0, c, {N})",
        "backend.device",
    ),
}
#: Quick work first, from which the package estimates a high GPU speed.
QUICK = """
import browsergpu as bg
quick = bg.ones(99)
for _ in range(2000):
    quick = bg.sin(quick)
    bg.eval(quick)
float(quick[0])
"""


@pytest.mark.parametrize(
    ("way", "before"),
    [("arrays", QUICK), ("executor", ""), ("tensors", QUICK), ("pointers", "")],
    ids=["arrays after quick work", "executor", "tensors after quick work", "pointers"],
)
def test_an_interrupt_ends_a_loop_that_gives_the_gpu_work(
    notebook: NotebookPage, way: str, before: str
) -> None:
    prepare, product, device = WAYS[way]
    notebook.run(f"{prepare}\n{before}\ndone = left = 0")
    index = notebook.start(
        f"try:\n    for _ in range({PRODUCTS}):\n        {product}\n        done += 1\n"
        "        if done == 9: print('it goes on')\n"
        f"finally:\n    left = {device}.recorder.unfinished"
    )
    expect(notebook.output(index)).to_contain_text("it goes on")
    notebook.page.wait_for_timeout(500)
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.output(index).locator(".output-traceback").first).to_contain_text(
        "KeyboardInterrupt"
    )
    done, left = notebook.run("print(done, left)").inner_text().split()
    assert 0 < int(done) < PRODUCTS // 2
    assert int(left) < MOST_LEFT, "what the GPU was given and has not done"


@pytest.mark.all
def test_tuning_tells_in_the_cell_how_far_it_is(notebook: NotebookPage) -> None:
    index = notebook.start("import browsergpu as bg\nbg.tune(bg.init())")
    # All measurements take minutes on a software GPU.
    bar = notebook.output(index).locator(".stderr pre").first
    expect(bar).to_have_text(re.compile(r"^tune: \d+ of \d+  \w+"))
    notebook.wait_state("busy")
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(notebook.output(index)).to_contain_text("KeyboardInterrupt")
    expect(notebook.run("float(bg.ones(99).sum())")).to_have_text("99.0")


BROKEN = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(8) fn main() { y[0] = nothing_of_the_sort; }
"""


@pytest.mark.provokes_errors
def test_a_broken_shader_names_the_cell_that_has_recorded_it(notebook: NotebookPage) -> None:
    notebook.run(
        "import browsergpu as bg\nx = bg.ones(8)\n"
        f"raw = bg.RawKernel('''{BROKEN}''')\n"
        "own = bg.ElementwiseKernel('T x', 'T y', 'y = x + nothing_like_it', 'own')"
    )
    recorded = notebook.start("y = bg.ones(8)\n\nraw(1, y)")
    notebook.wait_finished()
    notebook.run("1 + 1")
    told = notebook.run("y.numpy()").locator(".output-traceback").first
    number = notebook.cell(recorded).locator(".cell-count").inner_text().strip("[]")
    expect(told).to_contain_text(f"first recorded in Cell {number}, line 3")
    recorded = notebook.start("z = own(x)")
    notebook.wait_finished()
    told = notebook.run("z.numpy()").locator(".output-traceback").first
    number = notebook.cell(recorded).locator(".cell-count").inner_text().strip("[]")
    expect(told).to_contain_text(f"first recorded in Cell {number}, line 1")
