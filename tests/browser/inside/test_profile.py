"""profile(): measured times, the table, the trace, and no leaks."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import has_clock, on_gpu, random_array
from inside.losing import destroy

CLOCKS = [True, False]  # the GPU's clock, wall time


@contextmanager
def opened(**options: Any) -> Iterator[Any]:
    """Open an initialised backend with the given options."""
    from browsergpu import WasmBackend

    with WasmBackend(**options) as backend:
        backend.init()
        yield backend


@pytest.mark.parametrize("timestamps", CLOCKS)
def test_one_event_for_each_dispatch(backend: Any, timestamps: bool) -> None:
    import js

    from browsergpu import profile

    with on_gpu(backend) as gpu:
        data = random_array(1, 1000)
        x, y = gpu.upload(data), gpu.alloc(4000)
        before = js.gpuWatch.dispatches
        with profile(backend, timestamps=timestamps) as p:
            backend.unary("neg", x, y, 1000)
            backend.binary("add", x, y, y, 1000)
            backend.reduce("sum", x, y, [1000], 0)
            backend.copy_htod(x, data)
            backend.unary("neg", x, y, 1000)
        assert_same_bits(gpu.download(y, 1000), -data, "the results are those without a profile")
    assert p.clock == ("gpu" if timestamps and has_clock(backend.device) else "wall")
    names = [event.name for event in p.events]
    assert names == ["fused: negative", "fused: add assign", "fused: add", "fused: negative"]
    assert js.gpuWatch.dispatches == before + 4
    assert all(event.duration_ns >= 0 for event in p.events)
    assert all(event.start_ns >= 0 for event in p.events)
    starts = [event.start_ns for event in p.events]
    assert starts == sorted(starts)
    assert {event.device for event in p.events} == {backend.device.name}


def works(backend: Any, pointers: list[int]) -> Iterator[tuple[str, float, float]]:
    """Run ops one by one. Yields (kernel, its operations, its bytes), computed by hand."""
    a, b, c, d = pointers
    backend.unary("exp", a, b, 1000)
    yield "fused: exp", 1000, 8 * 1000
    backend.unary("exp", a, a, 1000)
    yield "fused: exp assign", 1000, 8 * 1000
    backend.binary("mul", a, b, c, 1000)
    yield "fused: multiply", 1000, 12 * 1000
    backend.binary("mul", c, c, c, 1000)
    yield "fused: multiply assign", 1000, 8 * 1000
    backend.reduce("max", a, b, [10, 100], 1)
    yield "fused: maximum", 1000, 4 * (1000 + 10)
    backend.reduce("sum", a, b, [100, 10], 0)
    yield "fused: add", 1000, 4 * (1000 + 10)
    m, n, k = 7, 9, 11
    backend.gemm("no_trans", "trans", m, n, k, 1.0, a, k, b, k, 0.0, c, n)
    yield "gemm.32", 2 * m * n * k, 4 * (m * k + k * n + m * n)
    backend.gemm("no_trans", "no_trans", m, n, k, 1.0, a, k, b, n, 0.5, c, n)
    yield "gemm.32", 2 * m * n * k, 4 * (m * k + k * n + 2 * m * n)
    backend.batched_gemm(
        "no_trans", "no_trans", m, n, k, 1.0, a, k, m * k, b, n, k * n, 0.0, c, n, m * n, 3
    )
    yield "gemm.32", 3 * 2 * m * n * k, 3 * 4 * (m * k + k * n + m * n)
    backend.gemm_f16(m, n, k, 1.0, a, b, 0.0, c)
    yield "gemm_f16", 2 * m * n * k, 2 * (m * k + k * n + m * n)
    with backend.device.variants.only("conv2d", "tile64"):
        backend.conv2d_forward(a, [2, 3, 8, 9], b, [4, 3, 3, 2], c, [2, 4, 6, 8], 1, 0)
    window, pixels = 3 * 3 * 2, 6 * 8
    conv_bytes = 2 * 4 * (3 * 8 * 9 + 4 * window + 4 * pixels)
    yield "conv2d.64x64", 2 * 2 * 4 * pixels * window, conv_bytes
    with backend.device.variants.only("conv2d", "window"):
        backend.conv2d_forward(a, [2, 3, 8, 9], b, [4, 3, 3, 3], c, [2, 4, 6, 7], 1, 0)
    window, pixels = 3 * 3 * 3, 6 * 7
    conv_bytes = 2 * 4 * (3 * 8 * 9 + 4 * window + 4 * pixels)
    yield "conv2d_window.16", 2 * 2 * 4 * pixels * window, conv_bytes
    sizes = (2, 3, 4, 6, 5)  # batch, heads, queries, keys, head_dim
    backend.attention(a, b, c, d, *sizes, 1.0, False)
    yield "attention", 6 * 4 * 4 * 6 * 5, 6 * 8 * (4 + 6) * 5
    backend.attention(a, b, c, d, *sizes, 1.0, True)
    yield "attention", 6 * 4 * (1 + 2 + 3 + 4) * 5, 6 * 8 * (4 + 6) * 5


def test_work_is_exact(backend: Any) -> None:
    from browsergpu import profile

    with on_gpu(backend) as gpu:
        pointers = [gpu.filled(4096, 0.5) for _ in range(4)]
        with profile(backend) as p:
            expected = list(works(backend, pointers))
    assert [(e.name, e.flops, e.nbytes) for e in p.events] == expected
    assert p.total_ns == sum(event.duration_ns for event in p.events)


def test_work_of_generated_kernels_is_exact(backend: Any) -> None:
    import browsergpu as bg
    from browsergpu import KernelExecutor, profile

    executor = KernelExecutor(backend.device)
    x, row = executor.full((10, 8), 1.0), executor.full((8,), 1.0)
    halves = executor.full((80,), 1.0, "f16")
    bg.use(backend)
    a, b = bg.ones((100, 7)), bg.ones((7,))
    bg.eval(a, b)
    with profile(backend) as p:
        executor.add(x, row)
        executor.mul(x, 2.0, x)
        executor.add(halves, halves)
        executor.add(x.as_strided((8, 10), (1, 8)), x.as_strided((8, 10), (0, 1)))
        bg.eval((a + b) * a)
        bg.eval(bg.take(a, bg.asarray([1, 2]), axis=0))  # reads arbitrary elements
    assert [(e.flops, e.nbytes) for e in p.events if e.name.startswith("fused")] == [
        (80, 4 * (80 + 8 + 80)),
        (80, 4 * (80 + 80)),
        (80, 2 * (80 + 80)),  # reads one array twice
        (80, 4 * (80 + 10 + 80)),
        (1400, 4 * (700 + 7 + 700)),
        (0, 0),
    ]


def test_work_is_known_of_every_kernel_of_the_cost_table() -> None:
    from browsergpu.engine.kernels.costs import COSTS
    from browsergpu.engine.kernels.table import KERNELS

    for name, cost in COSTS.items():
        fields = {field: 2.0 for field, _ in KERNELS[name].params.fields}
        flops, nbytes = cost(fields)
        assert flops >= 0, name  # some only copy data
        assert nbytes > 0, name


def test_work_of_the_users_kernels_is_not_guessed_from_their_names(backend: Any) -> None:
    from browsergpu import TensorBackend, profile

    source = """
        @group(0) @binding(0) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn gemm() { y[0] = 1.0; }
    """
    tensors = TensorBackend(backend)
    y = tensors.alloc_tensor((1,), "f32")
    try:
        with profile(backend) as p:
            tensors.dispatch_compute(source, [y], None, 1)
    finally:
        tensors.free_tensor(y)
    assert [(e.flops, e.nbytes) for e in p.events] == [(0, 0)]


@pytest.mark.parametrize("timestamps", CLOCKS)
def test_more_dispatches_than_a_query_set_holds(backend: Any, timestamps: bool) -> None:
    from browsergpu import profile

    rounds = 2500
    with on_gpu(backend) as gpu:
        one, total = gpu.upload(np.ones(3, np.float32)), gpu.upload(np.zeros(3, np.float32))
        with profile(backend, timestamps=timestamps) as p:
            for _ in range(rounds):
                backend.binary("add", total, one, total, 3)
        assert_same_bits(gpu.download(total, 3), np.full(3, rounds, np.float32), "sums")
    assert len(p.events) == rounds
    (summary,) = p.summaries()
    assert (summary.calls, summary.flops) == (rounds, 3 * rounds)


@pytest.mark.parametrize("timestamps", CLOCKS)
def test_nothing_is_left_behind(timestamps: bool) -> None:
    import js

    from browsergpu import profile
    from inside.spies import watched

    with opened() as backend, on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        backend.unary("neg", x, x, 8)
        backend.synchronize()
        alive, counters = js.gpuWatch.buffersAlive, backend.device.recorder.counters
        with (
            watched("GPUDevice", "createQuerySet") as made,
            watched("GPUQuerySet", "destroy") as destroyed,
        ):
            for _ in range(3):
                with profile(backend, timestamps=timestamps):
                    backend.unary("neg", x, x, 8)
        expected = 3 if timestamps and has_clock(backend.device) else 0
        assert len(made.all) == len(destroyed.all) == expected
        assert js.gpuWatch.buffersAlive == alive
        after = backend.device.recorder.counters
        assert not backend.device.recorder.observers
        same = ("buffers", "bind_groups", "pipelines", "staging", "waiting")
        assert {name: after[name] for name in same} == {name: counters[name] for name in same}
        # Afterwards, batches are submitted whole again.
        submits = js.gpuWatch.submits
        for _ in range(10):
            backend.unary("neg", x, x, 8)
        backend.synchronize()
        assert js.gpuWatch.submits == submits + 1


# -- the block -------------------------------------------------------------------------------------


def test_an_exception_in_the_block_propagates_and_ends_the_profile(backend: Any) -> None:
    from browsergpu import profile

    class MineError(Exception):
        pass

    p = profile(backend)
    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))

        def fail() -> None:
            with p:
                backend.unary("neg", x, x, 8)
                raise MineError

        with pytest.raises(MineError):
            fail()
        assert [event.name for event in p.events] == ["fused: negative assign"]
        assert not backend.device.recorder.is_profiled
        with profile(backend) as another:
            backend.unary("neg", x, x, 8)
        assert len(another.events) == 1


def test_profiles_do_not_nest_and_are_used_once(backend: Any) -> None:
    from browsergpu import profile
    from browsergpu.errors import Unsupported

    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        outer = profile(backend)
        with outer:
            backend.unary("neg", x, x, 8)
            for again in (profile(backend), outer):
                with pytest.raises(Unsupported, match="cannot nest"):
                    again.__enter__()
            backend.unary("neg", x, x, 8)
        assert len(outer.events) == 2, "the refused ones changed nothing"
        with pytest.raises(Unsupported, match="used once"):
            outer.__enter__()


def test_async_with(backend: Any) -> None:
    from pyodide.ffi import run_sync

    from browsergpu import profile

    async def work(pointer: int) -> Any:
        async with profile(backend) as p:
            backend.unary("neg", pointer, pointer, 8)
            await asyncio.sleep(0)
            backend.unary("abs", pointer, pointer, 8)
        return p

    with on_gpu(backend) as gpu:
        p = run_sync(work(gpu.upload(random_array(1, 8))))
    assert [event.name for event in p.events] == ["fused: negative assign", "fused: abs assign"]


def test_with_where_python_cannot_block(backend: Any) -> None:
    from pyodide.code import run_js

    from browsergpu import profile
    from browsergpu.errors import Unsupported

    def enter() -> None:
        with pytest.raises(Unsupported, match="async with"):
            profile(backend).__enter__()

    run_js("(call) => call()")(enter)
    assert not backend.device.recorder.is_profiled


def test_an_empty_block(backend: Any) -> None:
    from browsergpu import profile

    for timestamps in CLOCKS:
        with profile(backend, timestamps=timestamps) as p:
            pass
        assert p.events == []
        assert p.summaries() == []
        assert p.total_ns == 0
        assert "0 dispatches" in repr(p)
        assert p.trace()["traceEvents"] == []


def test_no_open_device() -> None:
    from browsergpu import WasmBackend, profile
    from browsergpu.errors import InvalidArgument, NotInitialized

    with pytest.raises(NotInitialized):
        profile(WasmBackend())
    for wrong in (5, "gpu", object()):
        with pytest.raises(InvalidArgument, match="a Device or an open backend"):
            profile(wrong)
    with pytest.raises(InvalidArgument, match="timestamps"):
        profile(timestamps="gpu")  # type: ignore[arg-type]


def test_every_open_device_is_profiled() -> None:
    from browsergpu import profile
    from browsergpu.engine.device.device import open_devices
    from browsergpu.errors import NotInitialized

    already = len(open_devices())
    with opened() as first, opened() as second:
        pointers = [(backend, backend.alloc(64)) for backend in (first, second)]
        with profile() as p:
            for backend, pointer in pointers:
                backend.unary("neg", pointer, pointer, 16)
        assert len(open_devices()) == already + 2
        assert len(p.events) == 2
        assert len({event.device for event in p.events}) == 2, "told apart, though of one name"
        rows = {e["tid"] for e in p.trace()["traceEvents"] if e["ph"] == "X"}
        assert len(rows) == 2
    if already == 0:
        with pytest.raises(NotInitialized, match="no device is open"):
            profile()


def test_a_loss_in_the_block_is_raised_and_other_devices_are_measured() -> None:
    from browsergpu import profile
    from browsergpu.errors import DeviceLost

    with opened() as healthy, opened() as doomed:
        x, y = healthy.alloc(64), doomed.alloc(64)
        p = profile()

        def lose() -> None:
            with p:
                healthy.unary("neg", x, x, 16)
                doomed.unary("neg", y, y, 16)
                destroy(doomed.device)

        with pytest.raises(DeviceLost):
            lose()
        assert not healthy.device.recorder.is_profiled
        assert len(p.events) >= 1
        with pytest.raises(DeviceLost):
            profile(doomed).__enter__()
        with profile() as after:  # profiles only devices that are not lost
            healthy.unary("neg", x, x, 16)
        assert len(after.events) == 1


# -- what did not run ------------------------------------------------------------------------------


REFUSED = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1) fn refused() { y[0] = two; }
"""


@pytest.mark.provokes_errors
@pytest.mark.parametrize("timestamps", CLOCKS)
@pytest.mark.parametrize("known", ["before", "later", "too late"])
def test_refused_dispatches_are_no_events(backend: Any, timestamps: bool, known: str) -> None:
    from browsergpu import TensorBackend, profile
    from browsergpu.errors import ShaderCompilation

    tensors = TensorBackend(backend)
    y = tensors.alloc_tensor((1,), "f32")
    source = f"{REFUSED} // {known} {timestamps}"

    def refuse() -> None:
        tensors.dispatch_compute(source, [y], None, 1)
        if (
            known == "too late"
        ):  # the upload compiles it immediately, so it is encoded as if it were valid
            tensors.write_tensor(y, np.ones(1, np.float32))
        with pytest.raises(ShaderCompilation):
            backend.synchronize()

    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        if known == "before":
            refuse()
        with profile(backend, timestamps=timestamps) as p:
            backend.unary("neg", x, x, 8)
            refuse()
            backend.unary("abs", x, x, 8)
            if known == "before":
                refuse()
            backend.unary("sqrt", x, x, 8)
    tensors.free_tensor(y)
    names = [event.name for event in p.events]
    assert names == [f"fused: {name} assign" for name in ("negative", "abs", "sqrt")]
    starts = [event.start_ns for event in p.events]
    assert starts == sorted(starts)
    assert starts[0] == 0, "the origin is the first event, not a time that nobody has written"


@pytest.mark.provokes_errors
@pytest.mark.parametrize("timestamps", CLOCKS)
def test_dispatches_of_a_dropped_batch_are_no_events(backend: Any, timestamps: bool) -> None:
    from browsergpu import profile
    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        with profile(backend, timestamps=timestamps) as p:
            backend.unary("neg", x, x, 8)
            backend.synchronize()
            pipeline = backend.device.pipeline("fill")
            backend.device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[x].id, 8, 0)
            with pytest.raises(ValidationError):
                backend.synchronize()
            backend.unary("abs", x, x, 8)
    assert [event.name for event in p.events] == ["fused: negative assign", "fused: abs assign"]


# -- how it is shown -------------------------------------------------------------------------------


@pytest.fixture
def shown(backend: Any) -> Any:
    from browsergpu import profile

    with on_gpu(backend) as gpu:
        x, y = gpu.filled(4096, 1.0), gpu.filled(4096, 1.0)
        with profile(backend) as p:
            for _ in range(3):
                backend.unary("exp", x, y, 4096)
            backend.gemm("no_trans", "no_trans", 64, 64, 64, 1.0, x, 64, x, 64, 0.0, y, 64)
    return p


def test_summaries(shown: Any) -> None:
    by_name = {row.name: row for row in shown.summaries()}
    assert set(by_name) == {"fused: exp", "gemm.32"}
    row = by_name["fused: exp"]
    assert (row.calls, row.flops, row.nbytes) == (3, 3 * 4096, 3 * 8 * 4096)
    totals = [row.total_ns for row in shown.summaries()]
    assert totals == sorted(totals, reverse=True)
    assert sum(totals) == shown.total_ns


def test_rates() -> None:
    from browsergpu import KernelSummary

    row = KernelSummary("gemm", calls=2, total_ns=4000.0, flops=8e6, nbytes=2e5)
    assert (row.mean_us, row.gflops, row.gbytes_per_s) == (2.0, 2000.0, 50.0)
    unknown = KernelSummary("mine", calls=1, total_ns=0.0, flops=0.0, nbytes=0.0)
    assert (unknown.gflops, unknown.gbytes_per_s) == (0.0, 0.0)


def test_table(shown: Any) -> None:
    header, *rows = shown.table().splitlines()
    names = ["kernel", "calls", "total", "ms", "mean", "µs", "GB/s", "GFLOP/s", "line"]
    assert header.split() == names
    assert sorted(re.split(r"  +", row)[:2] for row in rows) == [
        ["fused: exp", "3"],
        ["gemm.32", "1"],
    ]
    assert repr(shown).endswith(f"4 dispatches, {shown.clock} time")


def test_html_repr(shown: Any) -> None:
    class Cells(HTMLParser):
        found: list[str] = []  # noqa: RUF012
        opened: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.opened.pop() == tag

        def handle_data(self, data: str) -> None:
            self.found.append(data)

    cells = Cells()
    cells.feed(shown._repr_html_())
    cells.close()
    assert cells.opened == []
    assert {"kernel", "fused: exp", "gemm.32", f"4 dispatches, {shown.clock} time"} <= set(
        cells.found
    )


def test_html_repr_escapes_names() -> None:
    from browsergpu import KernelEvent, Profile

    p = Profile([], True)
    p.events.append(KernelEvent("<b>&", "gpu", 0.0, 1.0, 0.0, 0.0))
    assert "<b>" not in p._repr_html_()
    assert "&lt;b&gt;&amp;" in p._repr_html_()


def test_the_trace_has_perfettos_format(shown: Any, tmp_path: Any) -> None:
    path = shown.save_trace(str(tmp_path / "trace.json"))
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    names = [event for event in trace["traceEvents"] if event["ph"] == "M"]
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(names) + len(spans) == len(trace["traceEvents"])
    assert len(spans) == 4
    for span, event in zip(spans, shown.events, strict=True):
        assert span["name"] == event.name
        assert type(span["pid"]) is int
        assert type(span["tid"]) is int
        assert span["ts"] == event.start_ns / 1e3
        assert span["dur"] == event.duration_ns / 1e3
        lines = [*event.lines]
        assert span["args"] == {"flops": event.flops, "bytes": event.nbytes, "lines": lines}
    (thread,) = names
    assert (thread["name"], thread["tid"]) == ("thread_name", spans[0]["tid"])
    assert thread["args"] == {"name": shown.events[0].device}
