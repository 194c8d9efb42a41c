"""Outside a browser, on a software GPU: scripts and the command line, as a user starts them.

The in-page tests can also run there: python3 tests/run.py --native dawn, or wgpu.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here"),
]


@pytest.fixture(params=["wgpu", "dawn"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each engine in turn, on a software GPU."""
    name: str = request.param
    for variable, value in software_gpu(name).items():
        monkeypatch.setenv(variable, value)
    return name


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "py")} | variables
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def test_a_script() -> None:
    done = run(str(ROOT / "examples" / "script.py"))
    assert done.returncode == 0, done.stderr
    assert "is left" in done.stdout


def test_the_notebook_is_the_script_and_runs_in_jupyters_kernel() -> None:
    path = ROOT / "examples" / "script.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    script = (ROOT / "examples" / "script.py").read_text(encoding="utf-8")
    assert script.endswith("\n\n\n".join(code) + "\n")
    run_it = f"""
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read({str(path)!r}, as_version=4)
NotebookClient(notebook, kernel_name="python3").execute()
print(notebook.cells[-1].outputs[0].text)
"""
    done = run("-c", run_it)
    assert "is left" in done.stdout, done.stderr


def test_the_command_line_reports_the_gpu(engine: str) -> None:
    name, by, subgroups = {
        "wgpu": ("llvmpipe", "by wgpu 0.", "no"), "dawn": ("SwiftShader", "by wgpudawn 0.", "yes"),
    }[engine]  # fmt: skip
    done = run("-m", "browsergpu")
    assert done.returncode == 0, done.stderr
    assert name in done.stdout
    assert by in done.stdout
    assert f"subgroups: {subgroups}" in done.stdout
    assert re.search(r"largest array: [\d,]+ MiB", done.stdout)
    assert "TFLOP/s" in done.stdout


def test_the_engine_that_finds_a_gpu_is_taken(engine: str) -> None:
    """Dawn is tried first. It finds no adapter on lavapipe before Mesa 23."""
    done = run("-m", "browsergpu", BROWSERGPU_ENGINE="")
    assert done.returncode == 0, done.stderr
    taken = "wgpudawn" if engine == "dawn" else "wgpu"
    assert re.search(rf"by {taken}(dawn)? ", done.stdout), done.stdout


COMPUTES = "import browsergpu as bg; print(float(bg.sum(bg.ones((4, 4)) @ bg.ones((4, 4)))))"


def test_on_a_machine_without_a_screen_stderr_stays_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a screen, libwayland prints a warning each time that a driver connects to it."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    done = run("-c", COMPUTES)
    assert (done.stdout, done.stderr) == ("64.0\n", "")


def test_the_environment_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    code = "import os; before = dict(os.environ); " + COMPUTES + "; print(before == os.environ)"
    assert run("-c", code).stdout == "64.0\nTrue\n"


def test_an_engine_that_cannot_use_the_gpu_is_silent_beside_one_that_can() -> None:
    """Dawn refuses lavapipe before Mesa 23 and prints this on stderr."""
    done = run("-c", COMPUTES, BROWSERGPU_ENGINE="")
    assert (done.stdout, done.stderr) == ("64.0\n", "")


def test_the_error_says_why_the_only_engine_cannot_use_the_gpu(engine: str) -> None:
    if engine == "dawn":
        pytest.skip("Dawn can use SwiftShader")
    done = run("-c", COMPUTES, BROWSERGPU_ENGINE="dawn")
    assert "NoAdapter" in done.stderr.splitlines()[-1]
    assert "Vulkan shaderUniform*ArrayDynamicIndexing required" in done.stderr.splitlines()[-1]
    assert "While initializing adapter" not in done.stderr


def test_stderr_of_a_driver_is_not_lost() -> None:
    code = """
import os
from browsergpu.engine.gpu.native.quiet import notices_set_aside

with notices_set_aside() as set_aside:
    os.write(2, b"Warning: no.\\n - While initializing adapter (backend=X)\\n    at Y\\n\\n")
    os.write(2, b"the driver has crashed\\n")
print(set_aside)
"""
    done = run("-c", code)
    assert (done.stdout, done.stderr) == ("['no.']\n", "the driver has crashed\n")


def test_without_an_engine() -> None:
    done = run("-m", "browsergpu", BROWSERGPU_ENGINE="none")
    assert done.returncode == 1
    assert "pip install browsergpu[native]" in done.stderr


def test_a_dropped_backend_closes_its_device() -> None:
    code = """
import gc
import browsergpu
from browsergpu.engine.device.device import open_devices

def work():
    backend = browsergpu.WasmBackend()
    backend.init()
    gpu = browsergpu.KernelExecutor(backend)
    tensors = browsergpu.TensorBackend(backend)
    tensors.alloc_tensor((1000, 1000), "f32")
    float(gpu.full((8,), 1.0).numpy()[0])
    return len(open_devices()), backend.device.recorder

most, recorder = work()
gc.collect()
print(most, len(open_devices()), recorder.closed)
"""
    done = run("-c", code)
    assert done.stdout.split() == ["1", "0", "True"], done.stderr


def test_within_a_running_event_loop() -> None:
    """The cells of a notebook run in an event loop."""
    code = """
import asyncio
import browsergpu as bg

async def cell():
    a = bg.arange(4)
    return float(bg.sum(a)), (await (a + 1).numpy_async()).tolist(), (a * 2).numpy().tolist()

print(asyncio.run(cell()))
"""
    done = run("-c", code)
    assert done.stdout.strip() == "(6.0, [1, 2, 3, 4], [0, 2, 4, 6])", done.stderr


def test_waiting_within_a_wait_does_not_hang() -> None:
    """Memory for a large result is requested while a notebook's cell waits for the result."""
    code = """
import asyncio
import browsergpu as bg

async def cell():
    return float((bg.ones(1 << 20) * 2).numpy().sum())

print(asyncio.run(cell()))
"""
    done = run("-c", code)
    assert done.stdout.strip() == str(2.0 * (1 << 20)), done.stderr


def test_from_several_threads() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import browsergpu as bg

device = bg.init()

def work(seed):
    from browsergpu import KernelExecutor
    gpu = KernelExecutor(device)
    x = np.random.default_rng(seed).random((40, 30), np.float32)
    for _ in range(20):
        y = gpu.matmul(gpu.from_numpy(x), gpu.from_numpy(x.T)).numpy()
    return float(np.abs(y - x @ x.T).max())

with ThreadPoolExecutor(4) as threads:
    print(max(threads.map(work, range(8))) < 1e-4)
"""
    done = run("-c", code)
    assert done.stdout.strip() == "True", done.stderr


def test_dawn_locks_its_devices(engine: str) -> None:
    # Threads compile pipelines, but a Dawn device is for one thread unless told to lock.
    code = """
from browsergpu import WasmBackend

with WasmBackend() as backend:
    backend.init()
    print(*backend.device.recorder._sender.device.features)
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert ("implicit-device-synchronization" in done.stdout) == (engine == "dawn")


def test_threads_that_open_the_gpu_at_once_get_one_device() -> None:
    """Nine threads start before the engine is loaded, three of them in an event loop."""
    code = """
import asyncio, sys, threading
from concurrent.futures import ThreadPoolExecutor
import browsergpu as bg
from browsergpu.engine.device.device import open_devices

sys.setswitchinterval(1e-5)
together = threading.Barrier(9)
ways = [
    lambda: bg.init(),
    lambda: asyncio.run(bg.init_async()),
    lambda: (bg.ones(4) + 1).device,
]

def work(number):
    together.wait()
    return ways[number % 3]()

with ThreadPoolExecutor(9) as threads:
    found = list(threads.map(work, range(9)))
print(len(set(map(id, found))), len(open_devices()))
"""
    done = run("-c", code)
    assert done.stdout.split() == ["1", "1"], done.stderr


_LISTED = "print({a.info['backend_type'] for a in wgpu.gpu.enumerate_adapters_sync()})"


@pytest.mark.parametrize("first", ["", "wgpu.gpu.enumerate_adapters_sync(); "])
def test_wgpu_is_not_asked_for_opengl(engine: str, first: str) -> None:
    """A thread that frees OpenGL's adapter while another lists adapters can end the process.

    A program that used wgpu before browsergpu keeps its interfaces.
    """
    if engine != "wgpu":
        pytest.skip("Dawn lists none of OpenGL")
    code = f"import wgpu; {first}{COMPUTES}; "
    code += _LISTED
    done = run("-c", code)
    assert done.stdout.startswith("64.0"), done.stderr
    listed = run("-c", f"import wgpu; {_LISTED}").stdout
    assert ("OpenGL" in done.stdout) == (bool(first) and "OpenGL" in listed)


@pytest.mark.all
def test_arrays_in_several_threads() -> None:
    """All have one shape, so they record in the same trace; other threads free some of them."""
    code = """
import asyncio, pickle, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import browsergpu as bg

sys.setswitchinterval(1e-5)
shared = bg.arange(64, dtype=bg.float32)
left = []

def work(seed):
    y = shared
    for i in range(100):
        x = bg.asarray(np.full(64, seed, np.float32))
        y = (y + x) * 0.5 - x / 4 if i % 2 else bg.maximum(y, x) + 1.0
        left.append(y + 2)
        if i % 20 == 7:
            left.clear()
        if i % 25 == 24:
            y[3:5] = x[3:5]
            y = asyncio.run((y + 0).numpy_async()) if i % 2 else y.numpy()
            y = bg.asarray(y)
    return float(y.sum())

alone = [work(seed) for seed in range(6)]
with ThreadPoolExecutor(4) as threads:
    together = list(threads.map(work, range(6)))
print(together == alone, pickle.loads(pickle.dumps(bg.sin)) is bg.sin)
"""
    done = run("-c", code)
    assert done.stdout.strip() == "True True", done.stderr


def test_a_thread_beside_an_event_loop_does_not_change_recorded_values() -> None:
    """Memory for a large result is requested while a notebook's loop runs."""
    code = """
import asyncio, threading, time
import numpy as np
import browsergpu as bg
from browsergpu.engine.core.turns import TURN

n = 1 << 18
wrong = 0

async def cells():
    global wrong
    for _ in range(60):
        a, b = bg.ones(n), bg.ones(n)
        bg.eval(a, b)
        a.device.memory.trim()  # so that memory is made, and not used again
        c = a + b

        def write():
            a[0:10] = 5

        thread = threading.Thread(target=write)
        with TURN:  # the thread waits for it, and takes it as soon as it can
            thread.start()
            time.sleep(0.005)
            bg.eval(c)
        found = np.asarray(c)
        thread.join()
        wrong += not (found == 2).all() or float(a[0]) != 5

asyncio.run(cells())
print(wrong)
"""
    done = run("-c", code)
    assert done.stdout.strip() == "0", done.stderr


def test_functions_of_the_users_wait_for_other_threads() -> None:
    """Meanwhile, a thread that calls these functions must not block other threads."""
    code = """
import threading
import numpy as np
import browsergpu as bg

def beside(found):  # waits for work of another thread
    done = []
    thread = threading.Thread(target=lambda: done.append(float(bg.sum(bg.ones(8) * 2))))
    thread.start()
    thread.join(60)
    told.append(done == [16.0])
    return found

told = []
x = bg.arange(6, dtype=bg.float32).reshape(2, 3)
np.apply_along_axis(lambda line: beside(line * 2), 1, x)
np.piecewise(x, [x > 1], [lambda y: beside(y + 1), 0])
w = bg.ones(3).requires_grad_()
y = w * 2
y.register_hook(beside)
bg.sum(y).backward()
bg.grad(lambda v: beside(bg.sum(v * v)))(bg.ones(3))
bg.checkpoint(lambda v: beside(v * v))(w).sum().backward()
own = bg.custom_vjp(lambda v: beside(v * 2))
own.defvjp(lambda v: (beside(v * 2), None), lambda _, g: beside((g * 2,)))
own(w).sum().backward()
optimizer = bg.optim.SGD([w], 0.1)
optimizer.step(lambda: beside(bg.sum(w)))
print(len(told), all(told))
"""
    done = run("-c", code)
    assert done.stdout.split() == ["10", "True"], (done.stdout, done.stderr)


@pytest.mark.all
def test_each_thread_trains_its_own_network() -> None:
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import browsergpu as bg

sys.setswitchinterval(1e-5)
x = bg.asarray(np.random.default_rng(0).random((16, 4), np.float32))

def train(seed):
    random = bg.random.default_rng(seed)
    weights = [random.normal(size=shape).requires_grad_() for shape in ((4, 8), (8, 1))]
    optimizer = bg.optim.Adam(weights, 0.05)

    def forward(x):
        keep = random.random((16, 8)) > 0.2
        return (bg.tanh(x @ weights[0]) * keep) @ weights[1]

    for step in range(6):
        optimizer.zero_grad()
        loss = bg.mean((bg.checkpoint(forward)(x) - 1) ** 2)
        loss.backward()
        optimizer.step()
        with bg.no_grad():
            weights[0][0] *= 0.5
    return [w.detach().numpy().tolist() for w in weights]

alone = [train(seed) for seed in range(4)]
with ThreadPoolExecutor(4) as threads:
    together = list(threads.map(train, range(4)))
print(together == alone)
"""
    done = run("-c", code)
    assert done.stdout.strip() == "True", done.stderr


def test_a_forked_process_is_refused() -> None:
    code = """
import os, threading
import browsergpu as bg

a = bg.arange(4)
float(bg.sum(a))
recorder, held, done = a.device.recorder, threading.Event(), threading.Event()

def hold():  # as a thread does in the middle of a call
    with recorder._sender.lock:
        held.set()
        done.wait()

threading.Thread(target=hold).start()
held.wait()
if os.fork() == 0:
    try:
        (a + 1).numpy()
    except Exception as error:
        print(type(error).__name__, "forked" in str(error), flush=True)
    os._exit(0)
done.set()
os.wait()
"""
    done = run("-c", code)
    assert done.stdout.strip() == "DeviceError True", done.stderr


#: asyncio.wait_for() as it is from Python 3.12 on: it needs a task.
_NEWER_PYTHON = """
import asyncio

async def wait_for(future, timeout):
    async with asyncio.timeout(timeout):
        return await future

asyncio.wait_for = wait_for

from browsergpu import WasmBackend

with WasmBackend() as backend:
    backend.init()
    backend.synchronize()
    backend.synchronize(timeout=60)
print("done")
"""


def test_a_blocking_call_needs_no_task() -> None:
    done = run("-c", _NEWER_PYTHON)
    assert done.stdout == "done\n", done.stderr


def test_an_idle_gpu_gets_a_few_dispatches_soon() -> None:
    code = """
import numpy as np
import browsergpu as bg

backend = bg.init()
recorder = bg.default_device().recorder
x = bg.zeros(64)
np.asarray(x)
with bg.capture() as graph:
    for _ in range(100):
        x[...] = bg.sin(x)
np.asarray(x)
before = recorder.counters["submits"]
graph.replay()
np.asarray(x)
print(recorder.counters["submits"] - before)
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4\n"  # of 16, 16 and 32 dispatches, and of the rest with the read
