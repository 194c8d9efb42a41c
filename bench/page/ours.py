"""Runs in the page's Python: times browsergpu through its public interfaces, row by row.

Each row is timed twice by the rule in common.mjs: called from Python ("ms"), and without Python
("kernel_ms": the same commands, recorded once and submitted repeatedly).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod, sqrt
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bench_data import Input
from bench_rule import WORK, Skip, check, post, timed

import browsergpu
from browsergpu import KernelExecutor, TensorBackend, WasmBackend
from browsergpu.engine.core.enums import Precision
from browsergpu.engine.tensors import matmul, transfers

READ_WHOLE = 2**24  # bytes; only the checked entries of larger results are read


@dataclass
class Work:
    """The computation of a row: its call, its result, and alternatives with the same result."""

    issue: Callable[[], Any]
    result: Any  # a DeviceArray, or a function that reads the result
    fresh: Callable[[], Any] | None = None  # computes the result again, if issue() changes it
    others: dict[str, Callable[[], Any]] = field(default_factory=dict)
    replayed: bool = True


class Lab:
    """The device shared by the three interfaces, with a method for each kind of row."""

    def __init__(self, backend: WasmBackend) -> None:
        self.backend = backend
        self.device = backend.device
        self.executor = KernelExecutor(self.device)
        self.tensors = TensorBackend(backend)
        self.pointers: list[int] = []
        self.handles: list[Any] = []

    # -- arrays ----------------------------------------------------------------------------------

    def array(self, x: Input) -> Any:
        """Return an input as a DeviceArray. Its copies are made on the GPU."""
        once = self.executor.from_numpy(x.copy())
        if x.repeat == 1:
            return once
        zeros = self.executor.full((x.repeat, *(1 for _ in x.shape)), 0.0)
        copies = self.executor.add(self.executor.reshape(once, (1, *once.shape)), zeros)
        return self.executor.reshape(copies, x.shape)

    def pointer(self, shape: Any, data: Any = None) -> int:
        """Return a WasmBackend buffer of float32, or of the data's dtype."""
        pointer = self.backend.alloc(4 * prod(shape) if data is None else data.nbytes)
        self.pointers.append(pointer)
        if data is not None:
            self.backend.copy_htod(pointer, data)
        return pointer

    def tensor(self, shape: Any, dtype: str, data: Any = None) -> Any:
        """Return a TensorBackend tensor."""
        handle = self.tensors.alloc_tensor(shape, dtype)
        self.handles.append(handle)
        if data is not None:
            self.tensors.write_tensor(handle, data)
        return handle

    def clear(self) -> None:
        """Free the memory of the last row."""
        for pointer in self.pointers:
            self.backend.free(pointer)
        for handle in self.handles:
            self.tensors.free_tensor(handle)
        self.pointers.clear()
        self.handles.clear()
        self.device.recorder.flush()
        self.device.memory.trim()

    def reader(self, pointer: int, shape: Any) -> Callable[[], Any]:
        """Return a function that reads a WasmBackend buffer."""

        async def read() -> Any:
            values = np.empty(shape, np.float32)
            await self.backend.copy_dtoh_async(values, pointer)
            return values

        return read

    # -- rows ------------------------------------------------------------------------------------

    def make(self, row: dict[str, Any]) -> Work:
        """Return the computation of a row."""
        if row["dtype"] == "f16" and "shader-f16" not in self.device.features:
            raise Skip("the device has no shader-f16")
        inputs = {name: Input(**x) for name, x in row["inputs"].items()}
        return getattr(self, f"make_{row['op']}")(inputs, tuple(row["out"]), row["options"])

    def make_matmul(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex = self.executor
        a, b = self.array(x["a"]), self.array(x["b"])
        out = ex.empty(shape, a.dtype)
        flips = {name: o.get(name, False) for name in ("transpose_a", "transpose_b")}
        return Work(lambda: ex.matmul(a, b, out, **flips), out)

    def make_matmul_high(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        a, b = self.array(x["a"]), self.array(x["b"])
        high, highest = self.executor.empty(shape), self.executor.empty(shape)
        plan = matmul.plan_matmul("matmul", a, b)

        def multiply() -> None:
            matmul.multiply(self.device, "matmul", plan, a, b, high, precision=Precision.HIGH)

        parts = {"parts": lambda: matmul.multiply(self.device, "matmul", plan, a, b, highest)}
        return Work(multiply, high, others=parts)

    def make_conv2d(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex = self.executor
        image, w, out = self.array(x["x"]), self.array(x["w"]), ex.empty(shape)
        step, edge = o["stride"], o["padding"]
        return Work(lambda: ex.conv2d(image, w, stride=step, padding=edge, out=out), out)

    def make_softmax(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, source = self.executor, self.array(x["x"])
        out = ex.empty(shape)
        return Work(lambda: ex.softmax(source, o["axis"], out), out)

    def make_layer_norm(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, (source, gamma, beta) = self.executor, map(self.array, x.values())
        out = ex.empty(shape)
        return Work(lambda: ex.layer_norm(source, gamma, beta, out=out), out)

    def make_sum(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, source, axis = self.executor, self.array(x["x"]), o["axis"]
        out = ex.empty(shape)
        return Work(lambda: ex.sum(source, axis, out=out), out)

    def make_variance(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, source, axis = self.executor, self.array(x["x"]), o["axis"]
        out = ex.empty(shape)
        return Work(lambda: ex.variance(source, axis, out=out), out)

    def make_relu(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, source = self.executor, self.array(x["x"])
        out = ex.empty(shape)
        return Work(lambda: ex.relu(source, out), out)

    def make_add(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, (a, b) = self.executor, map(self.array, x.values())
        out = ex.empty(shape)
        return Work(lambda: ex.add(a, b, out), out)

    def make_transpose(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, source = self.executor, self.array(x["x"])
        out = ex.empty(shape)
        return Work(lambda: ex.transpose(source, out=out), out)

    def make_attention(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        heads, length, width = o["heads"], o["length"], o["width"]
        if x["q"].dtype == "f16":
            q, k, v = (self.tensor(shape, "f16", i.copy()) for i in x.values())
            out = self.tensor(shape, "f16")

            async def read() -> Any:
                return self.tensors.read_numpy(out)

            return Work(lambda: self.tensors.attention(q, k, v, out, None, None), read)
        q, k, v = (self.pointer(shape, i.copy()) for i in x.values())
        out = self.pointer(shape)
        numbers = (1, heads, length, length, width, 1 / sqrt(width), o["causal"])
        return Work(lambda: self.backend.attention(q, k, v, out, *numbers), self.reader(out, shape))

    def make_chain(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        start, step = x["x"].copy(), x["y"].copy()
        n, pairs = start.size, range(o["length"] // 2)
        a, y = self.pointer(shape, start), self.pointer(shape, step)
        add, unary = self.backend.binary, self.backend.unary

        def by_pointers() -> None:
            for _ in pairs:
                add("add", a, y, a, n)
                unary("relu", a, a, n)

        ex = self.executor
        first, second = ex.from_numpy(start), ex.from_numpy(step)

        def by_arrays() -> None:
            for _ in pairs:
                ex.add(first, second, first)
                ex.relu(first, first)

        t, s = self.tensor(shape, "f32", start), self.tensor(shape, "f32", step)

        def by_tensors() -> None:
            for _ in pairs:
                self.tensors.pointwise_add(t, s, t)
                self.tensors.relu(t, t)

        def fresh() -> None:
            self.backend.copy_htod(a, start)
            by_pointers()

        others = {"KernelExecutor": by_arrays, "TensorBackend": by_tensors}
        return Work(by_pointers, self.reader(a, shape), fresh, others)

    def make_upload(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        data = x["x"].copy()
        target = self.pointer(shape)
        return Work(
            lambda: self.backend.copy_htod(target, data), self.reader(target, shape), replayed=False
        )

    def make_readback(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        source = self.pointer(shape, x["x"].copy())
        data = np.empty(shape, np.float32)

        async def result() -> Any:
            return data

        return Work(lambda: self.backend.copy_dtoh_async(data, source), result, replayed=False)

    # -- fused operations, and the same as separate operations ------------------------------------

    def make_linear_gelu(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, (source, w, bias) = self.executor, map(self.array, x.values())
        sums = ex.empty(shape)
        before, after = self.tensor(shape, "f32"), self.tensor(shape, "f32")

        def parts() -> None:
            ex.matmul(source, w, sums)
            ex.add(sums, bias, sums)
            self.tensors.gelu(before, after)

        return _fused(lambda: ex.linear(source, w, bias, activation="gelu"), parts)

    def make_add_layer_norm(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, (source, residual, gamma, beta) = self.executor, map(self.array, x.values())
        sums, normal = ex.empty(shape), ex.empty(shape)

        def parts() -> None:
            ex.add(source, residual, sums)
            ex.layer_norm(sums, gamma, beta, out=normal)

        return _fused(lambda: ex.add_layer_norm(source, residual, gamma, beta), parts)

    def make_attention_block(self, x: dict[str, Input], shape: Any, o: dict[str, Any]) -> Work:
        ex, (source, w_qkv, b_qkv, w_out, b_out) = self.executor, map(self.array, x.values())
        _, s, width = shape
        h = o["heads"]
        d = width // h
        rows = ex.reshape(source, (s, width))
        qkv, split = ex.empty((s, 3 * width)), ex.empty((3, h, s, d))
        q, k, v, attended = (self.pointer((h, s, d)) for _ in range(4))
        per_head, joined, result = ex.empty((h, s, d)), ex.empty((s, h, d)), ex.empty((s, width))
        flat = ex.reshape(joined, (s, width))

        def parts() -> None:
            ex.matmul(rows, w_qkv, qkv)
            ex.add(qkv, b_qkv, qkv)
            ex.transpose(ex.reshape(qkv, (s, 3, h, d)), (1, 2, 0, 3), split)
            self.backend.attention(q, k, v, attended, 1, h, s, s, d, 1 / sqrt(d), False)
            ex.transpose(per_head, (1, 0, 2), joined)
            ex.matmul(flat, w_out, result)
            ex.add(result, b_out, result)
            ex.add(rows, result, result)

        weights = (w_qkv, b_qkv, w_out, b_out)
        return _fused(lambda: ex.attention_block(source, *weights, heads=h), parts)

    # -- timing ----------------------------------------------------------------------------------

    async def entries(self, work: Work, at: list[int]) -> Any:
        """Return some entries of a result."""
        if callable(work.result):
            return (await work.result()).ravel()[at]
        array = work.result
        if array.nbytes <= READ_WHOLE:
            return (await array.numpy_async()).ravel()[at]
        width = array.dtype.numpy.itemsize
        got = np.empty(len(at), array.dtype.numpy)
        for i, index in enumerate(at):
            view = got[i : i + 1].view(np.uint8).data
            await transfers.read(self.device, array.buffer, width * index, view)
        return got

    async def time(self, issue: Callable[[], Any], row: dict[str, Any]) -> dict[str, Any]:
        """Time a computation by the rule."""

        async def once(k: int) -> float:
            start = perf_counter()
            for _ in range(k):
                answer = issue()
                if answer is not None and hasattr(answer, "send"):
                    await answer
            await self.backend.synchronize_async()
            return 1e3 * (perf_counter() - start)

        return await timed(once, row)

    async def replay(self, work: Work, row: dict[str, Any]) -> dict[str, Any]:
        """Time a row's commands without Python, and return its kernels.

        The commands are recorded once. The recorder's ring is then submitted repeatedly.
        """
        recorder, seen = self.device.recorder, []

        def note(pipeline: Any, fields: Any) -> None:
            seen.append(pipeline)

        recorder.flush()
        recorder.observers.append(note)
        work.issue()
        recorder.observers.remove(note)
        told = {"dispatches": len(seen), "kernels": sorted({p.label for p in seen})}
        size = sum(pipeline.nbytes for pipeline in seen)
        calls = min(64, 4 * (len(recorder._ring) - 1) // size)
        if calls == 0 or recorder._end != size:  # too large for the ring, or with copies
            return told
        recorder.flush()
        for _ in range(calls):
            work.issue()
        recorder._end = 0

        async def once(k: int) -> float:
            whole, rest = divmod(k, calls)
            start = perf_counter()
            for _ in range(whole):
                recorder._record(calls * size // 4)
            if rest:
                recorder._record(rest * size // 4)
            await self.backend.synchronize_async()
            return 1e3 * (perf_counter() - start)

        result = await timed(once, {**row, "budget": row["budget"] / 2}, warm_ms=0)
        return told | {"kernel_ms": result["ms"], "kernel_best_ms": result["best_ms"]}

    async def measure(self, row: dict[str, Any]) -> dict[str, Any]:
        """Measure a row and return its line."""
        work = self.make(row)
        line: dict[str, Any] = {}
        for name, issue in work.others.items():
            line[f"{name}_ms"] = (await self.time(issue, row))["ms"]
        line |= await self.time(work.issue, row)
        if row["op"] == "chain":
            with browsergpu.capture(device=self.device) as graph:
                work.issue()
            line["replayed_ms"] = (await self.time(graph.replay, row))["ms"]
            graph.close()
        if work.replayed:
            line |= await self.replay(work, row)
        if work.fresh is not None:
            work.fresh()
        return line | {"check": check(row, await self.entries(work, row["check"]["at"]))}


def _fused(call: Callable[[], Any], parts: Callable[[], Any]) -> Work:
    """Return a fused operation that makes a new array, with its parts as the alternative."""
    last: list[Any] = [None]

    def issue() -> None:
        last[0] = call()

    async def result() -> Any:
        return await last[0].numpy_async()

    return Work(issue, result, None, {"parts": parts})


async def _first_result(lab: Lab, row: dict[str, Any]) -> dict[str, Any]:
    """Time the way from NumPy arrays to the first NumPy result, without compiled kernels."""
    data = [Input(**x).copy() for x in row["inputs"].values()]
    ex, o = lab.executor, row["options"]
    calls = {
        "matmul": lambda a, b: ex.matmul(a, b),
        "softmax": lambda x: ex.softmax(x),
        "conv2d": lambda x, w: ex.conv2d(x, w, stride=o["stride"], padding=o["padding"]),
    }
    start = perf_counter()
    result = await calls[row["op"]](*map(ex.from_numpy, data)).numpy_async()
    ms = 1e3 * (perf_counter() - start)
    return {"ms": ms, "check": check(row, result.ravel()[row["check"]["at"]])}


def _copy_limit() -> dict[str, Any]:
    """Measure copies within WebAssembly memory, which limit uploads and reads."""
    size = max(4 * prod(row["out"]) for row in WORK["rows"] if row["op"] == "upload")
    source, target = np.ones(size // 4, np.float32), np.zeros(size // 4, np.float32)
    times = []
    for _ in range(6):
        start = perf_counter()
        np.copyto(target, source)
        times.append(1e3 * (perf_counter() - start))
    return {"peer": "device", "row": "limit: memory copy in WebAssembly", "ms": median(times[1:]),
            "nbytes": size}  # fmt: skip


async def run() -> None:
    """Measure the selected rows."""
    # Kernels are compiled in the warm-up calls, so background compilation would only disturb.
    backend = WasmBackend(warm_up=WORK["first"])
    await backend.init_async()
    lab = Lab(backend)
    post({"version": browsergpu.__version__, "device": backend.device.info})
    for row in WORK["rows"]:
        try:
            line = await (_first_result(lab, row) if WORK["first"] else lab.measure(row))
        except Skip as reason:
            line = {"skip": str(reason)}
        except Exception as error:
            line = {"error": f"{type(error).__name__}: {error}"[:600]}
        post({"row": row["id"], **line})
        lab.clear()
    if not WORK["first"] and any(row["op"] == "upload" for row in WORK["rows"]):
        post(_copy_limit())
