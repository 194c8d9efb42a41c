"""Operations on arrays in GPU memory: NumPy's and a neural network's, and kernels of the user's.

``base`` makes, copies and rearranges arrays; ``arithmetic``, ``reductions``, ``networks`` and
``transformers`` are the operations. All of them record and return at once; ``array.numpy()``,
``await array.ready()`` and ``synchronize`` wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.api.executor.arithmetic import Arithmetic
from browsergpu.api.executor.networks import BatchNormTraining, Networks
from browsergpu.api.executor.reductions import Reductions
from browsergpu.api.executor.transformers import Transformers
from browsergpu.core.above import register
from browsergpu.core.errors import InvalidArgument
from browsergpu.gpu import platform
from browsergpu.gpu.memory import Allocation
from browsergpu.tensors import custom
from browsergpu.tensors.buffers import Buffer
from browsergpu.tensors.device_array import DeviceArray

__all__ = ["BatchNormTraining", "KernelExecutor", "PipelineStats"]


@dataclass(frozen=True)
class PipelineStats:
    """Pipelines compiled, requests that found a compiled one, requests that did not, and the
    milliseconds that compiling took.

    A browser does not tell how long a compiler ran. ``compile_ms`` is wall time from each
    synchronous ``createComputePipeline`` to the answer of an error scope behind it, which the GPU
    process gives when it has made the pipeline; moments in which several were being made count
    once, and pipelines whose answer has not come yet not at all (a wait brings it).
    """

    count: int
    hits: int
    misses: int
    compile_ms: float


class KernelExecutor(Arithmetic, Reductions, Networks, Transformers):
    """Operations on a device's arrays.

    >>> executor = KernelExecutor(device)               # await Device.request(), or a backend
    >>> x = executor.from_numpy(np.ones((2, 3), np.float32))
    >>> y = executor.softmax(executor.add(x, 1.0))
    >>> y.numpy()                                       # or: await y.numpy_async()

    Results go to new arrays, or to ``out``, which may be one of the inputs. Operations may be
    issued by several tasks at once, as with ``asyncio.gather``; ``await array.ready()`` and
    ``await array.numpy_async()`` wait for theirs. As on every backend, a GPU may take subnormal
    numbers (nearer to 0 than 2^-126) for zeros.
    """

    def execute_custom_kernel(
        self,
        source: str | bytes,
        entry_point: str | None,
        buffers: Sequence[DeviceArray | Buffer],
        workgroup_count: int | Sequence[int],
        uniform_data: Any = None,
    ) -> None:
        """Runs WGSL on arrays or Buffers, bound to the storage buffers of group 0 in the order of
        their binding numbers; ``uniform_data`` are the bytes of its uniform buffer, if it has one.
        ``entry_point`` may be None where there is only one. ``arrayLength`` is of the array's
        bytes, in whole words; an empty array comes as a word of 0."""
        op = "execute_custom_kernel"
        self.device.keep_pace(op)
        code = custom.source_text(op, "source", source)
        if isinstance(buffers, str | bytes) or not isinstance(buffers, Sequence):
            raise InvalidArgument(op, "buffers", buffers, "a sequence of DeviceArrays or Buffers")
        bound = [self._bound(op, f"buffers[{i}]", item) for i, item in enumerate(buffers)]
        groups = custom.workgroups(op, workgroup_count)
        custom.dispatch(
            self.device, op, code, entry_point, bound, groups, uniform_data=uniform_data
        )

    def _bound(self, op: str, name: str, item: Any) -> Allocation:
        if not isinstance(item, Buffer):
            array = self._array(op, name, item)
            if not array.is_packed or array.nbytes != array.buffer.nbytes:
                raise InvalidArgument(op, name, item, "an array that is its whole memory, packed")
            return array.buffer
        if item.device is not self.device:
            raise InvalidArgument(op, name, item, "a Buffer on this executor's device")
        if item.nbytes != item.allocation.nbytes:
            raise InvalidArgument(op, name, item, "a whole Buffer, not a range of one")
        return item.allocation

    @property
    def pipeline_stats(self) -> PipelineStats:
        """What the device's pipelines have cost so far."""
        device = self.device
        return PipelineStats(
            device.pipeline_count,
            device.pipeline_hits,
            device.pipeline_misses,
            device.recorder.compile_ms,
        )

    def synchronize(self) -> None:
        """Waits for everything recorded, and raises what the GPU reported of it."""
        platform.block_on(self.synchronize_async(), "synchronize")

    async def synchronize_async(self) -> None:
        """:meth:`synchronize` for callers that cannot block."""
        self.device.check_open("synchronize")
        await self.device.recorder.synchronize()


register("device_array_operations", KernelExecutor)
