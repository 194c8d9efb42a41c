"""The tensor-handle backend on the browser's WebGPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import sqrt
from operator import index
from typing import Any

import numpy as np

from browsergpu import _js, checks, custom, host_tensors, spirv
from browsergpu.device import Device
from browsergpu.dtypes import DType
from browsergpu.errors import InvalidArgument
from browsergpu.memory import Buffer
from browsergpu.ops import adam, attention, elementwise, gemm, images, integers, reduce, rows
from browsergpu.staging import Staging, Tensor
from browsergpu.tensor_contract import TensorContract, TensorHandle, TensorMeta
from browsergpu.wasm_backend import WasmBackend

_FLOATS = (DType.F32, DType.F16)
_WHOLE = (DType.I32, DType.U32)
_PICTURES = (DType.F32, DType.F16, DType.U8)

_handles = count(1)  # one sequence for all backends, so that a foreign handle is never valid


class TensorBackend(TensorContract):
    """Tensors over a WasmBackend's device, recorder and kernels.

    >>> tensors = TensorBackend(backend)                     # backend: an open WasmBackend
    >>> x = tensors.alloc_tensor((2, 3), "f32")
    >>> tensors.write_tensor(x, np.ones((2, 3), np.float32))
    >>> tensors.softmax(x, x, -1)
    >>> tensors.read_numpy(x)                                # or: await tensors.read_numpy_async(x)
    """

    def __init__(self, backend: WasmBackend) -> None:
        if not isinstance(backend, WasmBackend):
            raise InvalidArgument("TensorBackend", "backend", backend, "a WasmBackend")
        self._backend = backend
        self._device: Device | None = None
        self._tensors: dict[int, Tensor] = {}

    # -- life and memory -------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def is_available(self) -> bool:
        return self._backend.is_initialized

    def alloc_tensor(self, shape: Sequence[int], dtype: DType | str) -> TensorHandle:
        op = "alloc_tensor"
        device = self._ready(op)
        extents = checks.dimensions(op, "shape", shape)
        kind = checks.choice(op, "dtype", dtype, DType)
        size = checks.product(extents)
        buffer = device.memory.take(op, kind.device_bytes(size))
        tensor = Tensor(next(_handles), extents, kind, size, buffer)
        self._tensors[tensor.handle] = tensor
        return TensorHandle(tensor.handle)

    def free_tensor(self, handle: TensorHandle) -> None:
        device = self._ready("free_tensor")
        tensor = self._tensor("free_tensor", "handle", handle)
        del self._tensors[tensor.handle]
        device.memory.give(tensor.buffer)

    def tensor_meta(self, handle: TensorHandle) -> TensorMeta:
        self._ready("tensor_meta")
        tensor = self._tensor("tensor_meta", "handle", handle)
        return TensorMeta(tensor.shape, tensor.dtype, tensor.buffer.nbytes)

    def write_tensor(self, handle: TensorHandle, data: Any) -> None:
        op = "write_tensor"
        device = self._ready(op)
        tensor = self._tensor(op, "handle", handle)
        array = host_tensors.to_device(op, "data", data, tensor.shape, tensor.dtype)
        if array.nbytes:
            view = array.data.cast("B")
            device.recorder.write(tensor.buffer.id, 0, view, (array.nbytes + 3) & ~3)

    def read_tensor(self, handle: TensorHandle) -> bytes:
        return _js.block_on(self.read_tensor_async(handle), "read_tensor")

    async def read_tensor_async(self, handle: TensorHandle) -> bytes:
        """:meth:`read_tensor` for callers that cannot block."""
        return (await self._read("read_tensor", handle)).tobytes()

    def read_numpy(self, handle: TensorHandle) -> np.ndarray:
        """A tensor as a NumPy array of its shape and dtype. Waits."""
        return _js.block_on(self.read_numpy_async(handle), "read_numpy")

    async def read_numpy_async(self, handle: TensorHandle) -> np.ndarray:
        """:meth:`read_numpy` for callers that cannot block."""
        return await self._read("read_numpy", handle)

    async def _read(self, op: str, handle: TensorHandle) -> np.ndarray:
        device = self._ready(op)
        tensor = self._tensor(op, "handle", handle)
        array = np.empty(tensor.shape, tensor.dtype.device_numpy)
        if array.nbytes:
            view = array.data.cast("B")
            await device.recorder.read(tensor.buffer.id, 0, view, (array.nbytes + 3) & ~3)
        return host_tensors.from_device(array, tensor.dtype)

    def sync(self) -> None:
        _js.block_on(self.sync_async(), "sync")

    async def sync_async(self) -> None:
        """:meth:`sync` for callers that cannot block."""
        await self._ready("sync").recorder.synchronize()

    # -- elements --------------------------------------------------------------------------------

    def pointwise_add(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        op = "pointwise_add"
        device = self._ready(op)
        first = self._tensor(op, "a", a, _FLOATS + _WHOLE)
        second = self._tensor(op, "b", b, _FLOATS + _WHOLE)
        result = self._tensor(op, "out", out, _FLOATS + _WHOLE)
        self._same_shape(op, "b", b, second, first)
        self._same_shape(op, "out", out, result, first)
        kinds = {first.dtype, second.dtype, result.dtype}
        if not (kinds <= set(_FLOATS) or len(kinds) == 1):
            raise InvalidArgument(
                op, "dtypes", ", ".join(sorted(kinds)), "floats alone, or one of i32 and u32"
            )
        if first.size == 0:
            return
        if first.dtype.is_whole:
            with Staging(device) as staging:
                y = staging.write(result, first, second, dtype=first.dtype)
                integers.binary(device, "add", first.buffer, second.buffer, y, first.size)
            return
        with Staging(device) as staging:
            y = staging.write(result)
            elementwise.binary(
                device, "add", staging.read(first), staging.read(second), y, first.size
            )

    def gelu(self, input: TensorHandle, out: TensorHandle) -> None:
        self._unary("gelu", input, out)

    def relu(self, input: TensorHandle, out: TensorHandle) -> None:
        self._unary("relu", input, out)

    def _unary(self, op: str, input: TensorHandle, out: TensorHandle) -> None:
        device = self._ready(op)
        x = self._tensor(op, "input", input, _FLOATS)
        y = self._tensor(op, "out", out, _FLOATS)
        self._same_shape(op, "out", out, y, x)
        if x.size:
            with Staging(device) as staging:
                target = staging.write(y)
                elementwise.unary(device, op, staging.read(x), target, x.size)

    # -- matrix products -------------------------------------------------------------------------

    def matmul(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        self._matmul("matmul", a, b, None, out)

    def matmul_bias(
        self, a: TensorHandle, b: TensorHandle, bias: TensorHandle, out: TensorHandle
    ) -> None:
        self._matmul("matmul_bias", a, b, bias, out)

    def _matmul(
        self,
        op: str,
        a: TensorHandle,
        b: TensorHandle,
        bias: TensorHandle | None,
        out: TensorHandle,
    ) -> None:
        device = self._ready(op)
        left = self._tensor(op, "a", a, _FLOATS)
        right = self._tensor(op, "b", b, _FLOATS)
        result = self._tensor(op, "out", out, _FLOATS)
        added = None if bias is None else self._tensor(op, "bias", bias, _FLOATS)
        for name, given, tensor in (("a", a, left), ("b", b, right)):
            if len(tensor.shape) < 2:
                raise InvalidArgument(
                    op, name, given, f"at least 2 dimensions, not shape {tensor.shape}"
                )
        *lead_a, m, k = left.shape
        *lead_b, k_b, n = right.shape
        if k_b != k:
            raise InvalidArgument(op, "b", b, f"{k} rows, as a has columns, not {k_b}")
        if lead_a and lead_b and lead_a != lead_b:
            raise InvalidArgument(
                op, "b", b, f"leading dimensions {tuple(lead_a)} as a's, not {tuple(lead_b)}"
            )
        lead = lead_a or lead_b
        expected = (*lead, m, n)
        if result.shape != expected:
            raise InvalidArgument(op, "out", out, f"shape {expected}, not {result.shape}")
        if added is not None and added.shape != (n,):
            raise InvalidArgument(op, "bias", bias, f"shape {(n,)}, not {added.shape}")
        if lead_a and not lead_b:  # one matrix for all: the batch is further rows of a
            m, lead = m * checks.product(lead_a), []
        plan = gemm.plan_gemm(
            op, "no_trans", "no_trans", m, n, k, 1.0, max(k, 1), m * k if lead_a else 0,
            max(n, 1), k * n if lead_b else 0, 0.0, max(n, 1), m * n, checks.product(lead), "C",
        )  # fmt: skip
        reads = [t for t in (left, right, added) if t is not None]
        with Staging(device) as staging:
            y = staging.write(result, *reads)
            gemm.gemm(
                device,
                plan,
                staging.read(left),
                staging.read(right),
                y,
                None if added is None else staging.read(added),
            )

    # -- neural networks -------------------------------------------------------------------------

    def layer_norm(
        self,
        input: TensorHandle,
        gamma: TensorHandle,
        beta: TensorHandle,
        out: TensorHandle,
        eps: float,
    ) -> None:
        op = "layer_norm"
        device = self._ready(op)
        x = self._tensor(op, "input", input, _FLOATS)
        scale = self._tensor(op, "gamma", gamma, _FLOATS)
        shift = self._tensor(op, "beta", beta, _FLOATS)
        y = self._tensor(op, "out", out, _FLOATS)
        small = checks.real(op, "eps", eps)
        if small < 0:
            raise InvalidArgument(op, "eps", eps, "a number of at least 0")
        if not x.shape:
            raise InvalidArgument(op, "input", input, "at least 1 dimension, not a scalar")
        length = x.shape[-1]
        for name, given, tensor in (("gamma", gamma, scale), ("beta", beta, shift)):
            if tensor.shape != (length,):
                raise InvalidArgument(op, name, given, f"shape {(length,)}, not {tensor.shape}")
        self._same_shape(op, "out", out, y, x)
        if x.size:
            with Staging(device) as staging:
                target = staging.write(y, x, scale, shift)
                rows.layer_norm(
                    device, staging.read(x), staging.read(scale), staging.read(shift), target,
                    x.size // length, length, small,
                )  # fmt: skip

    def softmax(self, input: TensorHandle, out: TensorHandle, dim: int) -> None:
        op = "softmax"
        device = self._ready(op)
        x = self._tensor(op, "input", input, _FLOATS)
        y = self._tensor(op, "out", out, _FLOATS)
        self._same_shape(op, "out", out, y, x)
        axis = self._axis(op, "dim", dim, x)
        if x.size:
            outer, length, inner = _around(x.shape, axis)
            with Staging(device) as staging:
                target = staging.write(y, x)
                rows.softmax(device, staging.read(x), target, outer, length, inner)

    def attention(
        self,
        q: TensorHandle,
        k: TensorHandle,
        v: TensorHandle,
        out: TensorHandle,
        mask: TensorHandle | None,
        scale: float | None,
    ) -> None:
        op = "attention"
        device = self._ready(op)
        queries = self._tensor(op, "q", q, _FLOATS)
        keys = self._tensor(op, "k", k, _FLOATS)
        values = self._tensor(op, "v", v, _FLOATS)
        result = self._tensor(op, "out", out, _FLOATS)
        if len(queries.shape) < 2:
            raise InvalidArgument(op, "q", q, f"[.., S_q, D], not shape {queries.shape}")
        *lead, seq_q, head_dim = queries.shape
        if len(keys.shape) < 2 or keys.shape != (*lead, keys.shape[-2], head_dim):
            expected = "[" + ", ".join(map(str, (*lead, "S_kv", head_dim))) + "]"
            raise InvalidArgument(op, "k", k, f"shape {expected}, not {keys.shape}")
        self._same_shape(op, "v", v, values, keys)
        self._same_shape(op, "out", out, result, queries)
        seq_kv = keys.shape[-2]
        factor = 1 / sqrt(max(head_dim, 1)) if scale is None else scale
        plan = attention.plan_attention(
            checks.product(lead), 1, seq_q, seq_kv, head_dim, factor, False
        )
        masks = None if mask is None else self._tensor(op, "mask", mask, (*_FLOATS, DType.BOOL))
        inputs = [t for t in (queries, keys, values, masks) if t is not None]
        with Staging(device) as staging:
            y = staging.write(result, *inputs)
            added = None
            if masks is not None:
                is_bool = masks.dtype is DType.BOOL
                buffer = masks.buffer if is_bool else staging.read(masks)
                inner, strides = self._mask_strides(op, mask, masks, (*lead, seq_q, seq_kv))
                added = attention.Mask(buffer, "bool" if is_bool else "float", inner, strides)
            attention.attention(
                device, plan, staging.read(queries), staging.read(keys), staging.read(values), y,
                added,
            )  # fmt: skip

    @staticmethod
    def _mask_strides(
        op: str, given: Any, mask: Tensor, target: tuple[int, ...]
    ) -> tuple[int, tuple[int, int, int, int]]:
        """Extent of the inner leading index, and strides [outer, inner, row, column]."""
        shape = (1,) * (len(target) - len(mask.shape)) + mask.shape
        if len(shape) != len(target) or any(
            m not in (1, t) for m, t in zip(shape, target, strict=True)
        ):
            raise InvalidArgument(
                op, "mask", given, f"a shape that broadcasts to {target}, not {mask.shape}"
            )
        strides = [0] * len(shape)
        step = 1
        for axis in reversed(range(len(shape))):
            strides[axis] = step if shape[axis] > 1 else 0
            step *= shape[axis]
        *lead, row, column = strides
        extents = target[:-2]
        # Leading axes fold into two while neighbours are broadcast alike.
        folded: list[tuple[int, int]] = []  # (extent, stride), outermost first
        for extent, stride in zip(extents, lead, strict=True):
            if extent == 1:
                continue
            if folded:
                before, before_stride = folded[-1]
                if before_stride == stride * extent:
                    folded[-1] = (before * extent, stride)
                    continue
            folded.append((extent, stride))
        if len(folded) > 2:
            raise InvalidArgument(
                op,
                "mask",
                given,
                f"a mask broadcast over at most two groups of the leading axes {extents}, not "
                f"shape {mask.shape}",
            )
        (_, outer), (count_inner, inner) = [(1, 0), (1, 0), *folded][-2:]
        return count_inner, (outer, inner, row, column)

    def cross_entropy(
        self,
        logits: TensorHandle,
        targets: TensorHandle,
        loss_out: TensorHandle,
        probs_out: TensorHandle,
    ) -> None:
        op = "cross_entropy"
        device = self._ready(op)
        x = self._tensor(op, "logits", logits, _FLOATS)
        goals = self._tensor(op, "targets", targets, (DType.I32,))
        loss = self._tensor(op, "loss_out", loss_out, _FLOATS)
        probs = self._tensor(op, "probs_out", probs_out, _FLOATS)
        if not x.shape or x.shape[-1] == 0:
            raise InvalidArgument(op, "logits", logits, f"[.., C], C > 0, not shape {x.shape}")
        lead = x.shape[:-1]
        if goals.shape != lead:
            raise InvalidArgument(op, "targets", targets, f"shape {lead}, not {goals.shape}")
        if loss.shape not in (lead, ()):
            raise InvalidArgument(op, "loss_out", loss_out, f"shape {lead} or (), not {loss.shape}")
        self._same_shape(op, "probs_out", probs_out, probs, x)
        if loss.buffer is probs.buffer:
            raise InvalidArgument(op, "loss_out", loss_out, "another tensor than probs_out")
        samples = goals.size
        with Staging(device) as staging:
            y = staging.write(loss, x, goals)
            if samples == 0:
                if loss.size:  # the mean of nothing
                    elementwise.fill(device, y, float("nan"), 1)
                return
            p = staging.write(probs, x, goals)
            mean = loss.shape == () and lead != ()
            each = staging.temporary(DType.F32, samples) if mean else y
            rows.cross_entropy(device, staging.read(x), goals.buffer, each, p, samples, x.shape[-1])
            if mean:
                reduce.reduce(device, reduce.plan_reduce("mean", (samples,), 0), each, y)

    def reduce_sum(self, input: TensorHandle, out: TensorHandle, dim: int | None) -> None:
        op = "reduce_sum"
        device = self._ready(op)
        x = self._tensor(op, "input", input, (*_FLOATS, *_WHOLE, DType.BOOL))
        y = self._tensor(op, "out", out, _FLOATS if x.dtype.is_float else _WHOLE)
        if dim is None:
            outer, length, inner = 1, x.size, 1
            allowed = {(), (1,) * len(x.shape)}
        else:
            axis = self._axis(op, "dim", dim, x)
            outer, length, inner = _around(x.shape, axis)
            before, after = x.shape[:axis], x.shape[axis + 1 :]
            allowed = {before + after, (*before, 1, *after)}
        if y.shape not in allowed:
            shapes = " or ".join(map(str, sorted(allowed, key=len)))
            raise InvalidArgument(op, "out", out, f"shape {shapes}, not {y.shape}")
        if y.size == 0:
            return
        with Staging(device) as staging:
            if x.dtype.is_float:
                target = staging.write(y, x)
                plan = reduce.plan_reduce("sum", (outer, length, inner), 1)
                reduce.reduce(device, plan, staging.read(x), target)
                return
            target = staging.write(y, x, dtype=y.dtype)
            if length == 0:
                elementwise.fill(device, target, 0.0, y.size)  # the bits of 0 are 0
            else:
                integers.total(device, x.buffer, target, outer, length, inner)

    def embedding(self, indices: TensorHandle, weight: TensorHandle, out: TensorHandle) -> None:
        op = "embedding"
        device = self._ready(op)
        which = self._tensor(op, "indices", indices, (DType.I32,))
        table = self._tensor(op, "weight", weight, (*_FLOATS, *_WHOLE))
        y = self._tensor(op, "out", out, (*_FLOATS, *_WHOLE))
        if len(table.shape) != 2:
            raise InvalidArgument(op, "weight", weight, f"[V, D], not shape {table.shape}")
        entries, length = table.shape
        expected = (*which.shape, length)
        if y.shape != expected:
            raise InvalidArgument(op, "out", out, f"shape {expected}, not {y.shape}")
        if y.dtype.is_float != table.dtype.is_float or (
            y.dtype.is_whole and y.dtype is not table.dtype
        ):
            raise InvalidArgument(op, "out", out, f"a dtype as weight's {table.dtype}")
        if y.size == 0:
            return
        dtype = DType.F32 if table.dtype.is_float else table.dtype
        with Staging(device) as staging:
            target = staging.write(y, which, table, dtype=dtype)
            rows.embedding(
                device, which.buffer, staging.read(table, dtype), target,
                which.size, length, entries, floats=dtype is DType.F32,
            )  # fmt: skip

    def adam_update(
        self,
        param: TensorHandle,
        grad: TensorHandle,
        m: TensorHandle,
        v: TensorHandle,
        lr: float,
        beta1: float,
        beta2: float,
        eps: float,
        step: int,
    ) -> None:
        op = "adam_update"
        device = self._ready(op)
        weights = self._tensor(op, "param", param, _FLOATS)
        gradient = self._tensor(op, "grad", grad, _FLOATS)
        first = self._tensor(op, "m", m, _FLOATS)
        second = self._tensor(op, "v", v, _FLOATS)
        for name, given, tensor in (("grad", grad, gradient), ("m", m, first), ("v", v, second)):
            self._same_shape(op, name, given, tensor, weights)
        if len({t.handle for t in (weights, gradient, first, second)}) < 4:
            raise InvalidArgument(op, "param", param, "four different tensors")
        rate = checks.real(op, "lr", lr)
        betas = [checks.real(op, name, b) for name, b in (("beta1", beta1), ("beta2", beta2))]
        for name, beta in zip(("beta1", "beta2"), betas, strict=True):
            if not 0 <= beta < 1:
                raise InvalidArgument(op, name, beta, "a number from 0 up to, not including, 1")
        small = checks.real(op, "eps", eps)
        if small < 0:
            raise InvalidArgument(op, "eps", eps, "a number of at least 0")
        number = checks.integer(op, "step", step, 1)
        if weights.size == 0:
            return
        with Staging(device) as staging:
            adam.adam(
                device,
                staging.update(weights),
                staging.read(gradient),
                staging.update(first),
                staging.update(second),
                weights.size,
                lr=rate,
                beta1=betas[0],
                beta2=betas[1],
                eps=small,
                step=number,
            )

    # -- images ----------------------------------------------------------------------------------

    def gaussian_blur(self, input: TensorHandle, out: TensorHandle, sigma: float) -> None:
        op = "gaussian_blur"
        width_of_bell = checks.real(op, "sigma", sigma)
        if not 0 < width_of_bell <= 1000:
            raise InvalidArgument(op, "sigma", sigma, "a number above 0, at most 1000 pixels")
        device, x, y, height, width, channels = self._picture(op, input, out)
        if x.size:
            with Staging(device) as staging:
                target = staging.write(y, x)
                images.gaussian_blur(
                    device, staging.read(x), target, height, width, channels, width_of_bell
                )

    def sobel_edges(self, input: TensorHandle, out: TensorHandle, threshold: float) -> None:
        self._stencil("sobel_edges", "sobel", input, out, "threshold", threshold)

    def sharpen(self, input: TensorHandle, out: TensorHandle) -> None:
        self._stencil("sharpen", "sharpen", input, out, "amount", 0.0)

    def _stencil(
        self,
        op: str,
        kernel: str,
        input: TensorHandle,
        out: TensorHandle,
        name: str,
        amount: float,
    ) -> None:
        number = checks.real(op, name, amount)
        device, x, y, height, width, channels = self._picture(op, input, out)
        if x.size:
            with Staging(device) as staging:
                target = staging.write(y, x)
                images.stencil(
                    device, kernel, staging.read(x), target, height, width, channels, number
                )

    def grayscale(self, input: TensorHandle, out: TensorHandle) -> None:
        self._point("grayscale", "grayscale", input, out, "amount", 0.0)

    def threshold(self, input: TensorHandle, out: TensorHandle, value: float) -> None:
        self._point("threshold", "threshold", input, out, "value", value)

    def brightness(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        self._point("brightness", "brightness", input, out, "factor", factor)

    def contrast(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        self._point("contrast", "contrast", input, out, "factor", factor)

    def invert_colors(self, input: TensorHandle, out: TensorHandle) -> None:
        self._point("invert_colors", "invert", input, out, "amount", 0.0)

    def _point(
        self,
        op: str,
        kernel: str,
        input: TensorHandle,
        out: TensorHandle,
        name: str,
        amount: float,
    ) -> None:
        number = checks.real(op, name, amount)
        device, x, y, height, width, channels = self._picture(op, input, out)
        if x.size:
            with Staging(device) as staging:
                target = staging.write(y, x)
                images.point(
                    device, kernel, staging.read(x), target, height * width, channels, number
                )

    def _picture(
        self, op: str, input: TensorHandle, out: TensorHandle
    ) -> tuple[Device, Tensor, Tensor, int, int, int]:
        device = self._ready(op)
        x = self._tensor(op, "input", input, _PICTURES)
        y = self._tensor(op, "out", out, _PICTURES)
        if len(x.shape) not in (2, 3) or (len(x.shape) == 3 and not 1 <= x.shape[2] <= 4):
            raise InvalidArgument(
                op, "input", input, f"[H, W] or [H, W, 1 to 4 channels], not shape {x.shape}"
            )
        self._same_shape(op, "out", out, y, x)
        height, width, channels = (*x.shape, 1)[:3]
        return device, x, y, height, width, channels

    # -- kernels of the user's -------------------------------------------------------------------

    def dispatch_compute(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        op = "dispatch_compute"
        device = self._ready(op)
        buffers = self._bindings(op, bindings)
        groups = custom.workgroups(op, workgroup_count)
        if spirv.is_spirv(shader):
            source = _js.block_on(spirv.to_wgsl(op, bytes(shader)), op)  # type: ignore[arg-type]
        else:
            source = custom.source_text(op, "shader", shader)
        custom.dispatch(device, op, source, None, buffers, groups, push_constants=push_constants)

    async def dispatch_compute_async(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        """:meth:`dispatch_compute` for callers that cannot block: SPIR-V may have to load its
        translator."""
        if spirv.is_spirv(shader):
            shader = await spirv.to_wgsl("dispatch_compute", bytes(shader))  # type: ignore[arg-type]
        self.dispatch_compute(shader, bindings, push_constants, workgroup_count)

    def _bindings(self, op: str, bindings: Any) -> list[Buffer]:
        if isinstance(bindings, str | bytes) or not isinstance(bindings, Sequence):
            raise InvalidArgument(op, "bindings", bindings, "a sequence of tensor handles")
        return [
            self._tensor(op, f"bindings[{i}]", handle).buffer for i, handle in enumerate(bindings)
        ]

    # -- checks ----------------------------------------------------------------------------------

    def _ready(self, op: str) -> Device:
        device = self._backend.ready(op)
        if device is not self._device:  # the backend was closed and opened anew
            self._device = device
            self._tensors.clear()
        return device

    def _tensor(
        self, op: str, name: str, handle: Any, dtypes: tuple[DType, ...] | None = None
    ) -> Tensor:
        tensor = None
        if not isinstance(handle, bool):
            try:
                tensor = self._tensors.get(index(handle))
            except TypeError:
                tensor = None
        if tensor is None:
            raise InvalidArgument(
                op, name, handle, "a handle from this backend's alloc_tensor that was not freed"
            )
        if dtypes is not None and tensor.dtype not in dtypes:
            raise InvalidArgument(
                op, name, handle, f"a tensor of {' or '.join(dtypes)}, not {tensor.dtype}"
            )
        return tensor

    @staticmethod
    def _same_shape(op: str, name: str, handle: Any, tensor: Tensor, like: Tensor) -> None:
        if tensor.shape != like.shape:
            raise InvalidArgument(op, name, handle, f"shape {like.shape}, not {tensor.shape}")

    @staticmethod
    def _axis(op: str, name: str, value: Any, tensor: Tensor) -> int:
        rank = len(tensor.shape)
        if rank == 0:
            raise InvalidArgument(op, name, value, "no axis, as the tensor is a scalar")
        axis = checks.integer(op, name, value, -rank)
        if axis >= rank:
            raise InvalidArgument(op, name, value, f"an axis from {-rank} to {rank - 1}")
        return axis % rank


def _around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """Elements before an axis, along it, and after it."""
    return checks.product(shape[:axis]), shape[axis], checks.product(shape[axis + 1 :])
