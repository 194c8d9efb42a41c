"""The wheel alone, installed by micropip in a page without files of web/."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from harness import problems
from harness.bare import KERNELS, BarePage
from harness.lab import Lab

_PRODUCT = """
import numpy as np
from browsergpu import WasmBackend

backend = WasmBackend()
{init}
rng = np.random.default_rng(1)
a, b = (rng.standard_normal((37, 37)).astype(np.float32) for _ in range(2))
x, y, z = (backend.alloc(a.nbytes) for _ in range(3))
backend.copy_htod(x, a)
backend.copy_htod(y, b)
backend.gemm("no_trans", "no_trans", 37, 37, 37, 1.0, x, 37, y, 37, 0.0, z, 37)
c = np.full_like(a, np.nan)
{read}
for pointer in (x, y, z):
    backend.free(pointer)
backend.close()
float(np.abs(c - a.astype(float) @ b).max())
"""


@pytest.fixture(scope="module", params=KERNELS)
def bare(request: pytest.FixtureRequest, lab: Lab) -> Iterator[BarePage]:
    """A page without the wheel, shared by the tests of one kernel."""
    found: list[str] = []
    bare = lab.new_bare_page(found.append, request.param)
    bare.boot(["micropip"])
    yield bare
    bare.page.context.close()
    problems.assert_none(found)


def test_one_install_is_all_it_takes(bare: BarePage, lab: Lab) -> None:
    requested: list[str] = []
    bare.page.context.on("request", lambda request: requested.append(urlsplit(request.url).path))
    bare.install([lab.wheel_url])
    blocking = _PRODUCT.format(init="backend.init()", read="backend.copy_dtoh(c, z)")
    assert bare.run(blocking) < 1e-4
    awaiting = _PRODUCT.format(
        init="await backend.init_async()", read="await backend.copy_dtoh_async(c, z)"
    )
    assert bare.run(awaiting) < 1e-4
    assert requested, "the wheel came from nowhere"
    assert {path.split("/")[1] for path in requested} <= {"tests", "pyodide", "wheel"}


def test_a_file_is_handed_to_the_browsers_downloads(bare: BarePage, lab: Lab) -> None:
    bare.install([lab.wheel_url])
    bare.run("""
        import browsergpu
        from browsergpu.errors import Unsupported

        with open("a.txt", "w") as file:
            file.write("of a page")
    """)
    if bare.kernel == "main":
        with bare.page.expect_download() as download:
            bare.run("browsergpu.download('a.txt', 'b.txt')")
        assert download.value.suggested_filename == "b.txt"
        assert Path(download.value.path()).read_text(encoding="utf-8") == "of a page"
        return
    message = bare.run("""
        try:
            browsergpu.download("a.txt")
            message = "nothing was raised"
        except Unsupported as error:
            message = str(error)
        message
    """)
    assert "browsergpuDownload" in message
    assert "JupyterLite" in message


def test_where_python_cannot_block(bare: BarePage, lab: Lab) -> None:
    bare.install([lab.wheel_url])
    bare.run("""
        from browsergpu import WasmBackend
        from browsergpu.errors import Unsupported

        backend = await WasmBackend.init_from_canvas("gpu-canvas")
        pointer = backend.alloc(16)

        def refusal(call, *arguments):
            try:
                call(*arguments)
            except Unsupported as error:
                return str(error)
            return "nothing was raised"
    """)
    told = {
        "init_async": "refusal(WasmBackend().init)",
        "synchronize_async": "refusal(backend.synchronize)",
        "copy_dtoh_async": "refusal(backend.copy_dtoh, bytearray(16), pointer)",
    }
    for twin, code in told.items():
        message = bare.call("runSync", code, what=code)
        assert twin in message
    # Calls that do not wait still work, and the refused calls had no effect.
    bare.call(
        "runSync",
        "backend.copy_htod(pointer, b'x' * 16); backend.unary('neg', pointer, pointer, 4)",
        what="work that does not wait",
    )
    assert bare.run("await backend.synchronize_async(); backend.is_initialized") is True


# Every public call that waits, by the name of its async twin, with arguments of the blocking call.
_BLOCKING = """
import browsergpu as bg
import numpy as np
from browsergpu.errors import Unsupported

device = await bg.init_async()
backend = await bg.WasmBackend.init_from_canvas("gpu-canvas")
executor, tensors = bg.KernelExecutor(backend), bg.TensorBackend(backend)
group = bg.BackendGroup([backend])
x, pointer = bg.arange(4), backend.alloc(16)
tensor, buffer = tensors.alloc_tensor([4], "f32"), bg.Buffer(device, 16)
spirv = np.array([0x07230203, 0x10000, 0, 1, 0], "u4").tobytes()
calls = {
    "browsergpu.init_async": (bg, ()),
    "browsergpu.devices_async": (bg, ()),
    "browsergpu.enumerate_adapters_async": (bg, ()),
    "browsergpu.get_best_adapter_async": (bg, ()),
    "browsergpu.get_adapter_info_async": (bg, (0,)),
    "browsergpu.tune_async": (bg, ()),
    "browsergpu.forget_tuning_async": (bg, ()),
    "browsergpu.benchmark_workgroup_sizes_async": (bg, (device,)),
    "browsergpu.forget_workgroup_sizes_async": (bg, (device,)),
    "browsergpu.recover_async": (bg, ()),
    "browsergpu.save_async": (bg, ("x.npy", x)),
    "browsergpu.savez_async": (bg, ("x.npz", x)),
    "browsergpu.savez_compressed_async": (bg, ("x.npz", x)),
    "Array.numpy_async": (x, ()),
    "Variable.numpy_async": (bg.ones(4).requires_grad_(), ()),
    "DeviceArray.numpy_async": (executor.from_numpy(np.ones(4, "f4")), ()),
    "Buffer.read_data_async": (buffer, ()),
    "KernelExecutor.synchronize_async": (executor, ()),
    "WasmBackend.init_async": (bg.WasmBackend(), ()),
    "WasmBackend.copy_dtoh_async": (backend, (bytearray(16), pointer)),
    "WasmBackend.synchronize_async": (backend, ()),
    "TensorBackend.dispatch_compute_async": (tensors, (spirv, [tensor], None, 1)),
    "TensorBackend.read_tensor_async": (tensors, (tensor,)),
    "TensorBackend.read_numpy_async": (tensors, (tensor,)),
    "TensorBackend.sync_async": (tensors, ()),
    "BackendGroup.measure_async": (group, ()),
    "BackendGroup.copy_async": (group, (backend, pointer, backend, pointer)),
}

def said(call, *arguments):
    try:
        call(*arguments)
    except Unsupported as error:
        return str(error)
    return "nothing was raised"

public_names = (getattr(bg, name) for name in bg.__all__)
owners = [bg, *(owner for owner in public_names if isinstance(owner, type))]
public = {
    f"{owner.__name__}.{name}" for owner in owners for name in dir(owner) if name.endswith("_async")
}
# A mapping is entered (below), warm_up() compiles in the background.
others = {"Buffer.map_async", "Device.warm_up_async"}
with bg.no_grad():  # in which arrays that require gradients can be read
    named = {
        twin: said(getattr(owner, twin.partition(".")[2].removesuffix("_async")), *arguments)
        for twin, (owner, arguments) in calls.items()
    }
entered = [said(buffer.map("read").__enter__), said(bg.profile().__enter__)]
unnamed = [said(np.asarray, x), said(float, bg.sum(x)), said(bg.nonzero, x)]
[sorted(public - set(calls) - others), named, entered, unnamed, (await x.numpy_async()).tolist()]
"""


@pytest.mark.all
def test_without_jspi_each_call_that_waits_names_its_twin(
    lab: Lab, page_problems: list[str]
) -> None:
    page = lab.new_page(page_problems.append)
    # Simulate a browser without JSPI: Chromium 156 no longer has a flag for it.
    page.add_init_script("delete WebAssembly.Suspending; delete WebAssembly.promising;")
    bare = BarePage(page, lab.site_url, "main")
    bare.boot(["micropip"])
    bare.install([lab.wheel_url])
    untold, named, entered, unnamed, values = bare.run(_BLOCKING)
    assert untold == [], "calls with a twin that this test does not know"
    for twin, message in named.items():
        assert f"`await {twin.partition('.')[2]}(...)`" in message, twin
    assert ["async with" in message for message in entered] == [True, True]
    of_array, of_number, of_nonzero = unnamed
    assert "numpy_async" in of_array
    assert "numpy_async" in of_number
    assert "nonzero_async" not in of_nonzero
    assert "where()" in of_nonzero
    assert values == [0, 1, 2, 3]
    page.context.close()


@pytest.mark.all
@pytest.mark.parametrize("kernel", KERNELS)
def test_without_webgpu(kernel: str, new_bare_page: Callable[..., BarePage], lab: Lab) -> None:
    bare = new_bare_page(kernel)
    bare.boot(["micropip"])
    bare.install([lab.wheel_url])
    message = bare.run("""
        import js
        from pyodide.code import run_js

        # What a browser without WebGPU looks like: navigator has no gpu.
        run_js('Object.defineProperty(navigator, "gpu", {value: undefined})')
        import browsergpu
        from browsergpu.errors import NoAdapter

        available = browsergpu.is_available()
        try:
            browsergpu.WasmBackend().init()
            message = "nothing was raised"
        except NoAdapter as error:
            message = str(error)
        f"{available}: {message}"
    """)
    assert message.startswith("False: ")
    assert "WebGPU" in message
    assert "Chrome" in message, "the message does not say what to do"


def test_no_adapter(bare: BarePage, lab: Lab) -> None:
    bare.install([lab.wheel_url])
    message = bare.run("""
        from pyodide.code import run_js

        ask = run_js("GPU.prototype.requestAdapter")
        run_js("GPU.prototype.requestAdapter = async () => null")
        import browsergpu
        from browsergpu.errors import NoAdapter

        try:
            browsergpu.WasmBackend().init()
            message = "nothing was raised"
        except NoAdapter as error:
            message = str(error)
        finally:
            run_js("(ask) => { GPU.prototype.requestAdapter = ask; }")(ask)
        f"{browsergpu.is_available()}: {message}"
    """)
    assert message.startswith("True: ")
    assert "no GPU adapter" in message
