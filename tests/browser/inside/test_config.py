"""BackendConfig and the adapters: refused options, and the effect of each option."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import has_clock, on_gpu, random_array
from inside.spies import watched

BAD = [
    ("adapter_index", -1),
    ("adapter_index", "0"),
    ("adapter_index", True),
    ("adapter_index", 0.0),
    ("power_preference", "fast"),
    ("power_preference", None),
    ("power_preference", ["low-power"]),
    ("debug_mode", 1),
    ("debug_mode", "yes"),
    ("check_nan", None),
    ("check_nan", True),  # without debug_mode
    ("max_buffer_size", 255),
    ("max_buffer_size", -4),
    ("max_buffer_size", 1e6),
    ("memory_limit", 0),
    ("memory_limit", "1 GiB"),
    ("enable_pipeline_cache", 0),
    ("preferred_workgroup_size", 0),
    ("preferred_workgroup_size", 48),
    ("preferred_workgroup_size", 64.0),
    ("preferred_workgroup_size", (64, 1)),
    ("preferred_workgroup_size", (8, 3, 1)),
    ("preferred_workgroup_size", (64, 1, 0)),
    ("immediates", "no"),
]


@contextmanager
def opened(**options: Any) -> Iterator[Any]:
    """Open an initialised backend with the given options."""
    from browsergpu import BackendConfig, WasmBackend

    with WasmBackend(BackendConfig(**options)) as backend:
        backend.init()
        yield backend


@pytest.mark.parametrize(("name", "value"), BAD, ids=str)
def test_bad_options_are_refused_when_the_config_is_made(name: str, value: Any) -> None:
    from browsergpu import BackendConfig, WasmBackend
    from browsergpu.errors import InvalidArgument

    for make in (BackendConfig, WasmBackend):
        with pytest.raises(InvalidArgument) as caught:
            make(**{name: value})
        assert caught.value.op == "BackendConfig"
        assert caught.value.argument == name
        assert caught.value.value == value


def test_errors_of_unknown_options_list_the_known_ones() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="debug_mode"):
        WasmBackend(debug=True)
    with pytest.raises(InvalidArgument, match="a BackendConfig or None"):
        WasmBackend({"debug_mode": True})


def test_options_take_the_place_of_the_configs() -> None:
    from browsergpu import BackendConfig, WasmBackend

    config = BackendConfig(memory_limit=2**20, max_buffer_size=4096)
    with WasmBackend(config, memory_limit=2**24) as backend:
        backend.init()
        assert backend.device.config == BackendConfig(memory_limit=2**24, max_buffer_size=4096)


# -- adapters --------------------------------------------------------------------------------------


def test_adapters_are_enumerated_without_repeats() -> None:
    import browsergpu

    adapters = browsergpu.enumerate_adapters()
    assert adapters
    assert [adapter.index for adapter in adapters] == list(range(len(adapters)))
    identities = [
        (a.vendor, a.architecture, a.device, a.description, a.device_type) for a in adapters
    ]
    if sys.platform == "emscripten":  # a machine may have two identical adapters
        assert len(set(identities)) == len(adapters)
    assert browsergpu.get_best_adapter() == adapters[0]
    for adapter in adapters:
        assert browsergpu.get_adapter_info(adapter.index) == adapter
        assert adapter.name.strip() == adapter.name != ""
        assert adapter.device_type in ("cpu", "gpu")
        assert adapter.limits["maxBufferSize"] >= 2**28
        assert "core-features-and-limits" in adapter.features


@pytest.mark.parametrize("index", [-1, 99, "0", None, 1.0])
def test_adapters_that_do_not_exist(index: Any) -> None:
    import browsergpu
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument) as caught:
        browsergpu.get_adapter_info(index)
    assert (caught.value.op, caught.value.argument) == ("get_adapter_info", "index")


def test_a_device_from_an_index_is_on_that_adapter() -> None:
    import browsergpu

    for adapter in browsergpu.enumerate_adapters():
        with opened(adapter_index=adapter.index) as backend:
            assert backend.device.adapter == adapter
            assert backend.device.name == adapter.name
            assert backend.device.device_type == adapter.device_type


def test_devices_without_a_backend() -> None:
    from pyodide.ffi import run_sync

    from browsergpu import Device

    for making in (Device.from_best_adapter(), Device.from_adapter_index(0, debug_mode=True)):
        device = run_sync(making)
        try:
            assert device.memory_usage == {
                "allocated": 0, "in_use": 0, "pooled": 0, "peak": 0, "buffers": 0
            }  # fmt: skip
            assert not device.is_lost
        finally:
            device.close()


def test_an_index_out_of_range_opens_nothing() -> None:
    import js

    from browsergpu.errors import InvalidArgument

    before = js.gpuWatch.devices.length
    with pytest.raises(InvalidArgument, match=r"adapter_index must be less than .*, got 99"):
        opened(adapter_index=99).__enter__()
    assert js.gpuWatch.devices.length == before


@pytest.mark.parametrize("preference", ["high-performance", "low-power"])
def test_the_power_preference_reaches_the_browser(preference: str) -> None:
    with watched("GPU", "requestAdapter") as calls, opened(power_preference=preference):
        pass
    assert calls.of("requestAdapter") == [{"powerPreference": preference}]


# -- debug mode ------------------------------------------------------------------------------------


def dispatch_too_many_workgroups(backend: Any, pointer: int) -> None:
    """Dispatch more workgroups than WebGPU allows, past all argument checks."""
    device = backend.device
    pipeline = device.pipeline("fill")
    device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[pointer].id, 4, 0)


@pytest.mark.provokes_errors
def test_debug_mode_raises_in_the_very_call() -> None:
    from browsergpu.errors import ValidationError

    with opened(debug_mode=True) as backend:
        x = backend.alloc(16)
        with pytest.raises(ValidationError) as caught:
            dispatch_too_many_workgroups(backend, x)
        assert caught.value.op == "fill"
        backend.synchronize()  # raised once
        data = random_array(1, 4)
        backend.copy_htod(x, data)
        backend.unary("neg", x, x, 4)
        result = np.zeros(4, np.float32)
        backend.copy_dtoh(result, x)
        assert_same_bits(result, -data, "after the error")


@pytest.mark.provokes_errors
def test_without_debug_mode_it_is_raised_by_the_next_wait() -> None:
    from browsergpu.errors import ValidationError

    with opened() as backend:
        x = backend.alloc(16)
        dispatch_too_many_workgroups(backend, x)
        with pytest.raises(ValidationError):
            backend.synchronize()


def test_debug_mode_submits_each_op_separately() -> None:
    import js

    with opened(debug_mode=True) as backend, on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        before = js.gpuWatch.submits
        for _ in range(5):
            backend.unary("neg", x, x, 8)
        assert js.gpuWatch.submits == before + 5


MAKERS = (
    "createBuffer", "createBindGroup", "createBindGroupLayout", "createPipelineLayout",
    "createShaderModule", "createComputePipelineAsync", "createRenderPipeline", "createQuerySet",
    "createCommandEncoder",
)  # fmt: skip


@pytest.mark.parametrize("immediates", [True, False])
def test_every_gpu_object_has_a_label(immediates: bool) -> None:
    from browsergpu import profile

    with watched("GPUDevice", *MAKERS) as calls, opened(immediates=immediates) as backend:
        x = backend.alloc(2**20, label="pixels")
        backend.unary("sqrt", x, x, 16)
        with profile(backend):
            backend.binary("add", x, x, x, 16)
        backend.copy_dtoh(bytearray(64), x)
        backend.draw(x, 2, 2, 1, "gpu-canvas")
        backend.synchronize()
        queries = {"createQuerySet"} if has_clock(backend.device) else set()
    assert {name for name, _ in calls.all} == set(MAKERS) - {"createQuerySet"} | queries
    unnamed = [name for name, (descriptor, *_) in calls.all if not descriptor.get("label")]
    assert unnamed == []
    assert "pixels" in [descriptor["label"] for descriptor in calls.of("createBuffer")]
    assert "fused: sqrt assign" in [d["label"] for d in calls.of("createComputePipelineAsync")]


def test_debug_mode_renames_reused_buffers() -> None:
    with opened(debug_mode=True) as backend:
        backend.free(backend.alloc(4096, label="first"))
        renamed = backend.alloc(4096, label="second")
        assert backend.device.memory.by_label == {"second": 4096}
        allocated = backend.device.memory.allocated
        assert allocated == 4096, "the buffer came from the pool"
        backend.free(renamed)


def test_check_nan_names_the_op_and_the_place() -> None:
    from browsergpu.errors import ValidationError

    with opened(debug_mode=True, check_nan=True) as backend, on_gpu(backend) as gpu:
        x = gpu.upload(np.array([4.0, 9.0, -1.0, 1.0], np.float32))
        y = gpu.alloc(16)
        with pytest.raises(ValidationError, match=r"1 of 4 elements of 'y1' are NaN.* 2") as caught:
            backend.unary("sqrt", x, y, 4)
        assert caught.value.op == "fused: sqrt"
        backend.unary("abs", x, x, 4)
        backend.unary("sqrt", x, y, 4)  # x has no NaN now
        assert_same_bits(gpu.download(y, 4), np.array([2, 3, 1, 1], np.float32), "roots")


def test_check_nan_finds_them_in_every_kind_of_op() -> None:
    from browsergpu.errors import ValidationError

    nan = np.full(16, np.nan, np.float32)
    with opened(debug_mode=True, check_nan=True) as backend, on_gpu(backend) as gpu:
        x, one, y = gpu.upload(nan), gpu.upload(np.ones(16, np.float32)), gpu.alloc(64)
        calls = {
            "fused: add": lambda: backend.binary("add", x, one, y, 16),
            "fused: maximum": lambda: backend.reduce("max", x, y, [16], 0),
            "gemm": lambda: backend.gemm(
                "no_trans", "no_trans", 4, 4, 4, 1.0, x, 4, one, 4, 0.0, y, 4
            ),
            "attention": lambda: backend.attention(x, one, one, y, 1, 1, 4, 4, 4, 1.0, False),
            "conv2d": lambda: backend.conv2d_forward(
                x, [1, 1, 4, 4], one, [1, 1, 2, 2], y, [1, 1, 3, 3], 1, 0
            ),
        }
        for name, call in calls.items():
            with pytest.raises(ValidationError, match="NaN") as caught:
                call()
            assert caught.value.op.startswith(name)
    # Without the option, NaN is a normal result.
    with opened(debug_mode=True) as backend, on_gpu(backend) as gpu:
        x = gpu.upload(nan)
        backend.unary("neg", x, x, 16)
        assert np.isnan(gpu.download(x, 16)).all()


def test_check_nan_ignores_padding() -> None:
    from browsergpu.errors import ValidationError

    with opened(debug_mode=True, check_nan=True) as backend:
        for n in (64, 5, 3, 7):  # of one size class: the vec4s' last elements are nobody's
            data = np.ones(n, np.float32)
            data[-1] = -1
            x, y = backend.alloc(4 * n), backend.alloc(4 * n)
            backend.copy_htod(x, data)
            with pytest.raises(ValidationError, match=rf"1 of {n} elements of 'y1'.* {n - 1}$"):
                backend.unary("sqrt", x, y, n)
            # log of the padding's zeros would be infinite, and 0 / 0 is NaN.
            backend.binary("div", x, x, y, n)
            backend.free(x)
            backend.free(y)


def test_check_nan_finds_them_in_generated_kernels() -> None:
    import browsergpu as bg
    from browsergpu.errors import ValidationError

    with opened(debug_mode=True, check_nan=True) as backend:
        bg.use(backend)
        x = bg.asarray(np.array([1, 0, 4], np.float32))
        for number in (x, x.astype("float16"), x * 1j):
            with pytest.raises(
                ValidationError, match=r"of \d elements of 'y\d+' are NaN"
            ) as caught:
                (number * 2 / number).numpy()
            assert caught.value.op.startswith("fused: ")
            assert caught.value.op.endswith("multiply divide")
        assert (x / (x + 1)).numpy()[1] == 0.0
        data = bg.asarray(np.array([np.nan, 1], np.float32))  # uploads and copies may contain NaN
        assert np.isnan(data[bg.asarray([1, 0])].numpy()[1])
        del x, number, data


NAN_MAKERS = {
    "f32": "array<f32>", "vectors": "array<vec2<f32>>", "aliased": "array<Real>",
    "structs": "array<Pair>", "fixed": "array<f32, 2>", "behind words": "Tail",
}  # fmt: skip


@pytest.mark.parametrize("declared", NAN_MAKERS.values(), ids=NAN_MAKERS.keys())
def test_check_nan_finds_them_in_custom_kernels(declared: str) -> None:
    from browsergpu import Buffer, KernelExecutor, TensorBackend
    from browsergpu.errors import ValidationError

    source = f"""
alias Real = f32;
struct Pair {{ real: f32, bits: u32 }}
struct Tail {{ n: vec2u, x: array<f32> }}
@group(0) @binding(3) var<storage, read_write> made: {declared};
@group(0) @binding(1) var<storage, read> x: array<f32>;
@compute @workgroup_size(1) fn divide() {{ let quotient = x[0] / x[1]; WRITE }}
"""
    writes = {
        "array<vec2<f32>>": "made[1].y = quotient;", "array<Pair>": "made[1].real = quotient;",
        "Tail": "made.x[1] = quotient;",
    }  # fmt: skip
    source = source.replace("WRITE", writes.get(declared, "made[1] = quotient;"))
    with opened(debug_mode=True, check_nan=True) as backend:
        tensors, executor = TensorBackend(backend), KernelExecutor(backend.device)
        x, y = tensors.alloc_tensor((2,), "f32"), tensors.alloc_tensor((7,), "f32")
        tensors.write_tensor(x, np.array([1, 2], np.float32))
        tensors.dispatch_compute(source, [x, y], None, 1)
        tensors.write_tensor(x, np.zeros(2, np.float32))
        with pytest.raises(ValidationError, match=r"1 of \d elements of 'made'") as caught:
            tensors.dispatch_compute(source, [x, y], None, 1)
        assert caught.value.op == "divide"
        with pytest.raises(ValidationError, match="elements of 'made' are NaN"):
            executor.execute_custom_kernel(
                source, None, [executor.full((2,), 0.0), Buffer(backend.device, 28)], 1
            )


def test_check_nan_does_not_mistake_integers_for_nan() -> None:
    from browsergpu import KernelExecutor, TensorBackend

    source = """
struct Pair { real: f32, bits: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<storage, read_write> z: array<Pair>;
@compute @workgroup_size(1) fn ones() { y[0] = 0xffffffffu; z[0] = Pair(1.0, 0xffffffffu); }
"""
    with opened(debug_mode=True, check_nan=True) as backend:
        executor, tensors = KernelExecutor(backend.device), TensorBackend(backend)
        y, z = executor.full((5,), -1, "i32"), executor.full((2,), 0.0)
        executor.execute_custom_kernel(source, None, [y, z], 1)
        executor.add(y, y)
        executor.add(y, executor.full((4, 5), -1, "i32"))
        executor.cast(executor.full((5,), 4294967295, "u32"), "i32")
        indices, table, out = (
            tensors.alloc_tensor(shape, "i32") for shape in ((3,), (2, 4), (3, 4))
        )
        tensors.write_tensor(indices, np.array([0, 1, 5], np.int32))
        tensors.write_tensor(table, np.full((2, 4), -1, np.int32))
        tensors.embedding(indices, table, out)


def test_check_nan_finds_them_in_floats_that_kernels_write_as_words() -> None:
    from browsergpu import KernelExecutor, TensorBackend
    from browsergpu.errors import ValidationError

    with opened(debug_mode=True, check_nan=True) as backend, on_gpu(backend) as gpu:
        executor, tensors = KernelExecutor(backend.device), TensorBackend(backend)
        indices = tensors.alloc_tensor((3,), "i32")
        tensors.write_tensor(indices, np.array([0, 1, 2], np.int32))  # 2 is out of bounds

        def embed(length: int, dtype: str) -> None:
            table = tensors.alloc_tensor((2, length), dtype)
            ones = np.ones((2, length), np.float32 if dtype == "f32" else np.float16)
            tensors.write_tensor(table, ones)
            tensors.embedding(indices, table, tensors.alloc_tensor((3, length), dtype))

        nan = executor.from_numpy(np.array([1, np.nan, 2], np.float32))
        both = executor.from_numpy(np.array([1, np.nan, 2, 3, np.nan, 4], np.float16))
        halves = gpu.upload(np.full(64, np.nan, np.float16))
        product = gpu.alloc(128)
        calls = {
            ("embedding:", 3, 9): lambda: embed(3, "f32"),
            ("embedding_vectors", 4, 12): lambda: embed(4, "f32"),
            ("embedding", 3, 9): lambda: embed(3, "f16"),
            ("fused: add", 4, 12): lambda: executor.add(nan, executor.full((4, 3), 1.0)),
            ("fused: multiply", 1, 3): lambda: executor.mul(nan, 2.0, nan),
            ("fused: astype.*add", 2, 6): lambda: executor.add(both, both),
            ("cast.f32_f16", 1, 3): lambda: executor.cast(nan, "f16"),
            ("gemm_f16", 64, 64): lambda: backend.gemm_f16(
                8, 8, 8, 1.0, halves, halves, 0.0, product
            ),
        }
        for (name, count, of), call in calls.items():
            with pytest.raises(ValidationError, match=f"{name}.*{count} of {of} elements"):
                call()


# -- sizes and caches ------------------------------------------------------------------------------


def test_max_buffer_size() -> None:
    from browsergpu.errors import OutOfMemory

    with opened(max_buffer_size=1100) as backend:
        assert backend.device.largest_buffer == 1024
        with pytest.raises(
            OutOfMemory, match=r"1,025 bytes\) were requested.*1,024 bytes\)"
        ) as caught:
            backend.alloc(1025)
        assert caught.value.op == "alloc"
        assert backend.device.memory.buffers == 0
        with on_gpu(backend) as gpu:
            data = random_array(1, 256)
            x = gpu.upload(data)
            backend.unary("neg", x, x, 256)
            assert_same_bits(gpu.download(x, 256), -data, "in the largest buffer")
    with opened(max_buffer_size=2**52) as backend:
        limits = backend.device.limits
        own = min(limits["maxBufferSize"], limits["maxStorageBufferBindingSize"])
        assert backend.device.largest_buffer == own & ~255


@pytest.mark.parametrize("enabled", [True, False])
def test_enable_pipeline_cache(enabled: bool) -> None:
    with (
        watched("GPUDevice", "createComputePipelineAsync") as calls,
        opened(enable_pipeline_cache=enabled) as backend,
        on_gpu(backend) as gpu,
    ):
        data = random_array(1, 8)
        x = gpu.upload(data)
        for _ in range(4):
            backend.unary("neg", x, x, 8)
        assert_same_bits(gpu.download(x, 8), data, "negated four times")
        device = backend.device
        found = (device.pipeline_misses, device.pipeline_hits)
    assert found == ((1, 3) if enabled else (4, 0))
    assert len(calls.of("createComputePipelineAsync")) == (1 if enabled else 4)


@pytest.mark.parametrize("given", [32, 64, 256, (64, 1, 1), (8, 8, 4)], ids=str)
def test_preferred_workgroup_size(given: Any) -> None:
    size = int(np.prod(given))
    n = 5000
    with (
        watched("GPUDevice", "createShaderModule") as calls,
        opened(preferred_workgroup_size=given) as backend,
        on_gpu(backend) as gpu,
    ):
        assert backend.device.config.preferred_workgroup_size == size
        assert backend.device.workgroup_sizes.elementwise == size
        assert backend.device.optimal_workgroup_size(n) == size
        data = random_array(1, n)
        x = gpu.upload(data)
        backend.unary("neg", x, x, n)
        assert_same_bits(gpu.download(x, n), -data, f"workgroups of {size}")
    (descriptor,) = calls.of("createShaderModule")
    assert f"@workgroup_size({size})" in descriptor["code"]


def test_a_workgroup_size_beyond_the_device_opens_nothing() -> None:
    import js

    from browsergpu.errors import InvalidArgument

    before = js.gpuWatch.devices.length
    with pytest.raises(
        InvalidArgument, match=r"preferred_workgroup_size must .*, got 65536"
    ) as caught:
        opened(preferred_workgroup_size=65536).__enter__()
    assert caught.value.op == "Device.request"
    assert js.gpuWatch.devices.length == before


@pytest.mark.parametrize("enabled", [True, False])
def test_immediates(enabled: bool) -> None:
    import js

    has = "immediate_address_space" in list(js.navigator.gpu.wgslLanguageFeatures)
    with (
        watched("GPUComputePassEncoder", "setImmediates") as calls,
        opened(immediates=enabled) as backend,
        on_gpu(backend) as gpu,
    ):
        data = random_array(1, 5)
        x = gpu.upload(data)
        backend.unary("neg", x, x, 5)
        assert_same_bits(gpu.download(x, 5), -data, "negated")
    assert len(calls.of("setImmediates")) == (1 if enabled and has else 0)
