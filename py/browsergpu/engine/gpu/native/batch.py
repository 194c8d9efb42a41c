"""The encoded commands of a device that are not submitted yet."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.bindings import Bindings
from browsergpu.engine.gpu.native.clock import Clock
from browsergpu.engine.gpu.native.compiling import Step
from browsergpu.engine.gpu.native.engine import Engine
from browsergpu.engine.gpu.native.parameters import Parameters

#: A dispatch: step, bind group, workgroups and parameters.
Encoded = tuple[Step, Any, tuple[Any, ...], bytes]


class Batch(Shown):
    """Encodes each command at once. ``size`` is the number of commands in the open batch.

    Dispatches are direct C calls, because wgpu-py's objects take three times as long. Engines
    report errors of dispatches when the batch ends.
    """

    def __init__(self, engine: Engine, device: Any, bindings: Bindings, clock: Clock) -> None:
        self._engine = engine
        self._ffi, self._lib = engine.ffi, engine.lib
        self._device = device
        self._bindings = bindings
        self._clock = clock
        self._parameters: Parameters | None = None
        self._encoder: Any = None
        self._pass: Any = None
        self._handle: Any = None  # the pass in C
        self._last_step: Step | None = None
        self._last_group: Any = None
        self._dispatches: list[Encoded] = []
        self.size = 0

    def dispatch(
        self, step: Step, group: Any, grid: tuple[Any, ...], data: bytes, pointer: Any
    ) -> None:
        """Add a dispatch. ``pointer`` points to ``data``, the parameters."""
        profile = self._clock.profile
        if profile is not None:
            self._end_pass()
            if profile.timestamps:
                self._open_pass(self._clock.dispatch_writes(profile))
        if self._pass is None:
            self._open_pass(self._clock.pass_writes())
        lib, handle = self._lib, self._handle
        if step is not self._last_step:
            lib.wgpuComputePassEncoderSetPipeline(handle, step.handle)
            self._last_step = step
        if group is not self._last_group:
            lib.wgpuComputePassEncoderSetBindGroup(handle, 0, group._internal, 0, self._ffi.NULL)
            self._last_group = group
        if data:
            if step.uniform:
                self._set_uniforms(data)
            else:  # each time, because wgpu-native resets them with the pipeline
                lib.wgpuComputePassEncoderSetImmediates(handle, 0, pointer, len(data))
        lib.wgpuComputePassEncoderDispatchWorkgroups(handle, *grid)
        self._dispatches.append((step, group, grid, data))
        self.size += 1

    def _set_uniforms(self, data: bytes) -> None:
        if self._parameters is None:
            self._parameters = Parameters(self._engine, self._device, self._bindings.parameters)
        self._pass.set_bind_group(1, self._parameters.group, [self._parameters.place(data)])

    def encoder(self) -> Any:
        """Return the encoder for a command that is not a dispatch."""
        self._end_pass()
        self.size += 1
        return self._open()

    def _open(self) -> Any:
        if self._encoder is None:
            self._encoder = self._device.create_command_encoder(label="batch")
        return self._encoder

    def _open_pass(self, writes: dict[str, Any] | None) -> None:
        timed = {} if writes is None else {"timestamp_writes": writes}
        self._pass = self._open().begin_compute_pass(**timed)
        self._handle = self._pass._internal

    def _end_pass(self) -> None:
        if self._pass is not None:
            ended, self._pass = self._pass, None
            self._handle = self._last_step = self._last_group = None
            ended.end()

    def finish(self) -> Any:
        """End the batch and return its command buffer.

        Raises the error of an invalid command, whose name :meth:`culprit` returns. :meth:`clear`
        starts a new batch.
        """
        self._end_pass()
        encoder, self._encoder = self._encoder, None
        if self._parameters is not None:
            self._parameters.send()
        return encoder.finish()

    def culprit(self) -> str:
        """Return the label of the invalid dispatch that made the batch fail, or "".

        Each dispatch is encoded separately to find it.
        """
        for step, group, grid, data in self._dispatches:
            encoder = self._device.create_command_encoder()
            trial = encoder.begin_compute_pass()
            trial.set_pipeline(step.pipeline)
            trial.set_bind_group(0, group)
            if step.uniform and self._parameters is not None:
                trial.set_bind_group(1, self._parameters.group, [0])
            elif data:
                trial.set_immediates(0, data, 0, len(data))
            trial.dispatch_workgroups(*grid)
            trial.end()
            try:
                encoder.finish()
            except Exception:  # each engine has its own exception classes
                return step.label
        return ""

    def clear(self) -> None:
        """Discard the commands and start a new batch."""
        self._encoder = self._pass = self._handle = self._last_step = self._last_group = None
        self._dispatches = []
        self.size = 0
