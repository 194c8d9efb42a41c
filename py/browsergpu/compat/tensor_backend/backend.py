"""The tensor backend on WebGPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.compat.tensor_backend import abi, spirv
from browsergpu.compat.tensor_backend.arithmetic import Arithmetic
from browsergpu.compat.tensor_backend.handles import TensorHandle
from browsergpu.compat.tensor_backend.images import Images
from browsergpu.compat.tensor_backend.networks import Networks
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.gpu import platform
from browsergpu.engine.tensors import custom


class TensorBackend(Arithmetic, Networks, Images):
    """Tensors on the device of a WasmBackend: 52 methods on tensors, which are integer handles.

    Notes
    -----
    A tensor has a fixed shape and dtype, and is contiguous in row-major order on the device.
    Operations write into existing tensors (``out``), whose shape and dtype are checked. ``out`` may
    be one of the inputs.

    Float operations take f32 and f16 tensors in any combination: f16 is only storage, sums are
    float32. A GPU may flush subnormal numbers (nearer to 0 than 2^-126, in f16 2^-14) to zero, in
    operands and results. u8 is an integer from 0 to 255. Only image filters, which also accept it,
    read it as 0..1.

    Handles, shapes, dtypes and numbers are checked before anything reaches the device. Wrong ones
    raise InvalidArgument. NotInitialized and DeviceLost come from the underlying compute backend.

    The 22 methods ``scalar_add`` to ``scalar_ge`` work on plain numbers.

    Examples
    --------
    >>> tensors = TensorBackend(backend)                     # backend: an open WasmBackend
    >>> x = tensors.alloc_tensor((2, 3), "f32")
    >>> tensors.write_tensor(x, np.ones((2, 3), np.float32))
    >>> tensors.softmax(x, x, -1)
    >>> tensors.read_numpy(x)                                # or: await tensors.read_numpy_async(x)
    """

    def abi_fingerprint(self) -> str:
        """Return a hash of the 52 methods: names, and the names and kinds of arguments."""
        return FINGERPRINT

    def dispatch_compute(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        """Run a compute shader on tensors.

        Parameters
        ----------
        shader : str or bytes
            WGSL as str or UTF-8 bytes, or SPIR-V, with one compute entry point.
        bindings : sequence of TensorHandle
            Tensors for the storage buffers of @group(0), in the order of binding numbers.
        push_constants : bytes-like or None
            Contents of ``var<immediate>``.
        workgroup_count : int or sequence of int
            The grid.

        Notes
        -----
        ``arrayLength`` covers the tensor's bytes in whole words. An empty tensor is passed as a
        word of 0.
        """
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
        device.throttle(op)
        source = custom.source_text(op, "shader", shader)
        if isinstance(bindings, str | bytes) or not isinstance(bindings, Sequence | np.ndarray):
            raise InvalidArgument(op, "bindings", bindings, "a sequence of tensor handles")
        buffers = [
            self._tensor(op, f"bindings[{i}]", handle).buffer for i, handle in enumerate(bindings)
        ]
        groups = custom.workgroups(op, workgroup_count)
        custom.dispatch(device, op, source, None, buffers, groups, push_constants=push_constants)


#: The ``abi_fingerprint`` of this version.
FINGERPRINT = abi.fingerprint(TensorBackend)


def require_abi(backend: Any) -> None:
    """Raise Unsupported if the fingerprint of a backend is not that of this version."""
    op = "abi_fingerprint"
    ask = getattr(backend, op, None)
    if not callable(ask):
        raise InvalidArgument(op, "backend", backend, "a tensor backend")
    found = ask()
    if found != FINGERPRINT:
        raise Unsupported(
            op,
            f"the backend's fingerprint is {found!r}, this runtime's is {FINGERPRINT!r}. Install "
            "matching versions.",
        )
