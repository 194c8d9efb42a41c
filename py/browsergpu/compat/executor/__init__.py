"""Operations on arrays in GPU memory: NumPy-like functions, neural networks, and custom kernels.

``base`` creates, copies and rearranges arrays. ``arithmetic``, ``reductions``, ``networks`` and
``transformers`` have the operations. All of them record and return at once. Only ``array.numpy()``,
``await array.ready()`` and ``synchronize`` wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.compat.executor.arithmetic import Arithmetic
from browsergpu.compat.executor.networks import BatchNormTraining, Networks
from browsergpu.compat.executor.reductions import Reductions
from browsergpu.compat.executor.transformers import Transformers
from browsergpu.engine.core.above import register
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.tensors import custom
from browsergpu.engine.tensors.buffers import Buffer
from browsergpu.engine.tensors.device_array import DeviceArray

__all__ = ["BatchNormTraining", "KernelExecutor", "PipelineStats"]


@dataclass(frozen=True)
class PipelineStats:
    """Statistics of compiled pipelines.

    Attributes
    ----------
    count : int
        Number of compiled pipelines.
    hits, misses : int
        Requests for compiled pipelines, and requests that needed a compilation.
    compile_ms : float
        Milliseconds of compilation. A browser does not report how long its compiler ran, so this is
        wall time from each synchronous ``createComputePipeline`` to the result of an error scope
        around it, which the GPU process sends when the pipeline exists. Overlapping times count
        once. Pipelines whose result is pending do not count; a wait completes them.
    """

    count: int
    hits: int
    misses: int
    compile_ms: float


class KernelExecutor(Arithmetic, Reductions, Networks, Transformers):
    """Operations on a device's arrays.

    Results are new arrays, or are written to ``out``, which may be one of the inputs. Several tasks
    may call operations concurrently, as with ``asyncio.gather``. ``await array.ready()`` and
    ``await array.numpy_async()`` wait for their own results. As on every backend, a GPU may flush
    subnormal numbers (nearer to 0 than 2^-126) to zero.

    Examples
    --------
    >>> executor = KernelExecutor(device)               # await Device.request(), or a backend
    >>> x = executor.from_numpy(np.ones((2, 3), np.float32))
    >>> y = executor.softmax(executor.add(x, 1.0))
    >>> y.numpy()                                       # or: await y.numpy_async()
    """

    def execute_custom_kernel(
        self,
        source: str | bytes,
        entry_point: str | None,
        buffers: Sequence[DeviceArray | Buffer],
        workgroup_count: int | Sequence[int],
        uniform_data: Any = None,
    ) -> None:
        """Run a WGSL kernel on arrays or Buffers.

        Parameters
        ----------
        source : str or bytes
            The WGSL source.
        entry_point : str or None
            The entry point. None if there is only one.
        buffers : sequence of DeviceArray or Buffer
            Operands for the storage buffers of group 0, in the order of binding numbers.
        workgroup_count : int or sequence of int
            The grid.
        uniform_data : bytes-like, optional
            Contents of the uniform buffer, if the kernel has one.

        Notes
        -----
        ``arrayLength`` covers the array's bytes in whole words. An empty array is passed as a word
        of 0.
        """
        op = "execute_custom_kernel"
        self.device.throttle(op)
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
                raise InvalidArgument(op, name, item, "a contiguous array that is its whole buffer")
            return array.buffer
        if item.device is not self.device:
            raise InvalidArgument(op, name, item, "a Buffer on this executor's device")
        if item.nbytes != item.allocation.nbytes:
            raise InvalidArgument(op, name, item, "a whole Buffer, not a range of one")
        return item.allocation

    @property
    def pipeline_stats(self) -> PipelineStats:
        """Statistics of the device's pipelines."""
        device = self.device
        return PipelineStats(
            device.pipeline_count,
            device.pipeline_hits,
            device.pipeline_misses,
            device.recorder.compile_ms,
        )

    def synchronize(self) -> None:
        """Wait for all recorded operations, and raise errors that the GPU reported."""
        platform.block_on(self.synchronize_async(), "synchronize")

    async def synchronize_async(self) -> None:
        """Wait for all recorded operations, as :meth:`synchronize` does, without blocking."""
        self.device.check_open("synchronize")
        await self.device.recorder.synchronize()


register("device_array_operations", KernelExecutor)
