"""The tensor backend on WebGPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.api.tensor_backend import spirv
from browsergpu.api.tensor_backend.arithmetic import Arithmetic
from browsergpu.api.tensor_backend.contract import TensorHandle
from browsergpu.api.tensor_backend.images import Images
from browsergpu.api.tensor_backend.networks import Networks
from browsergpu.core.errors import InvalidArgument
from browsergpu.gpu import platform
from browsergpu.tensors import custom


class TensorBackend(Arithmetic, Networks, Images):
    """Tensors on the device of a WasmBackend.

    Examples
    --------
    >>> tensors = TensorBackend(backend)                     # backend: an open WasmBackend
    >>> x = tensors.alloc_tensor((2, 3), "f32")
    >>> tensors.write_tensor(x, np.ones((2, 3), np.float32))
    >>> tensors.softmax(x, x, -1)
    >>> tensors.read_numpy(x)                                # or: await tensors.read_numpy_async(x)
    """

    def dispatch_compute(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        op = "dispatch_compute"
        self._ready(op)
        source = (
            platform.block_on(spirv.to_wgsl(op, shader), op) if spirv.is_spirv(shader) else shader
        )
        self._run_shader(op, source, bindings, push_constants, workgroup_count)

    async def dispatch_compute_async(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        """Run a shader, as :meth:`dispatch_compute` does, without blocking.

        SPIR-V may have to load its translator.
        """
        op = "dispatch_compute"
        self._ready(op)
        source = await spirv.to_wgsl(op, shader) if spirv.is_spirv(shader) else shader
        self._run_shader(op, source, bindings, push_constants, workgroup_count)

    def _run_shader(
        self, op: str, shader: Any, bindings: Any, push_constants: Any, workgroup_count: Any
    ) -> None:
        device = self._ready(op)
        device.keep_pace(op)
        source = custom.source_text(op, "shader", shader)
        if isinstance(bindings, str | bytes) or not isinstance(bindings, Sequence | np.ndarray):
            raise InvalidArgument(op, "bindings", bindings, "a sequence of tensor handles")
        buffers = [
            self._tensor(op, f"bindings[{i}]", handle).buffer for i, handle in enumerate(bindings)
        ]
        groups = custom.workgroups(op, workgroup_count)
        custom.dispatch(device, op, source, None, buffers, groups, push_constants=push_constants)
