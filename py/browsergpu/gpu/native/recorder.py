"""One GPU outside a browser: encodes what is recorded at once, and submits it in batches.

All calls may come from any thread; a lock makes them come one after another. Buffers are destroyed
by the next call, since a garbage collection may free them while a command is being encoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import count
from struct import pack
from typing import Any, NamedTuple
from weakref import finalize

from browsergpu.core.errors import BackendError, DeviceError
from browsergpu.core.places import Section, users_place
from browsergpu.core.showing import Shown
from browsergpu.core.turns import new_lock
from browsergpu.gpu.native.adapters import features_of, limits_of
from browsergpu.gpu.native.batch import Batch
from browsergpu.gpu.native.bindings import Bindings, Key
from browsergpu.gpu.native.clock import Clock
from browsergpu.gpu.native.compiling import Compiler, Step
from browsergpu.gpu.native.complaints import Complaints
from browsergpu.gpu.native.engine import Engine
from browsergpu.gpu.native.fences import fences_of
from browsergpu.gpu.native.transfers import Piece, Transfers
from browsergpu.gpu.native.waiting import without_the_loop
from browsergpu.gpu.port import UNFIT, Captured, Gpu, Observer, Pipeline, no_room, unfit
from browsergpu.gpu.program import BoundStep

_DISPATCHES_PER_SUBMIT = 128


class Packed(NamedTuple):
    """A dispatch that is recorded again and again."""

    pipeline: Pipeline
    fields: tuple[float, ...]
    step: Step
    grid: tuple[Any, ...]
    key: Key
    data: bytes
    pointer: Any  # to the data


#: A dispatch: its step, workgroups, buffers, parameters and the pointer to these.
Dispatch = tuple[Step, tuple[Any, ...], Key, bytes, Any]


class Kept(Captured):
    """Commands as they are encoded: dispatches; copies and clearings by their words."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[Dispatch | tuple[int, ...]] = []


class Recorder(Shown, Gpu):
    """One device of an engine."""

    def __init__(self, engine: Engine, device: Any, *, one_by_one: bool = False) -> None:
        api, self._ffi = engine.api, engine.ffi
        self._fences = fences_of(engine, device)
        self._device, self._queue = device, device.queue
        self.features = features_of(device)
        self.limits = limits_of(device)
        self.has_immediates = self.limits.get("maxImmediateSize", 0) >= 64
        self._usage = api.BufferUsage
        self._per_submit = 1 if one_by_one else _DISPATCHES_PER_SUBMIT
        self._lock = new_lock()
        self._process = os.getpid()
        self._buffers: dict[int, Any] = {}
        self._steps: dict[int, Step] = {}  # of pipelines that somebody holds
        self._numbers = count()
        self._unheld: list[int] = []  # those that nobody holds any more
        self._wanted: list[Step] = []  # that the next wait tells of
        self._bindings = Bindings(device, api.ShaderStage.COMPUTE, self._buffers)
        self._compiler = Compiler(device, self._bindings, is_dawn=engine.is_dawn)
        self._clock = Clock(device, api.BufferUsage)
        self._transfers = Transfers(engine, device, self._fences)
        self._batch = Batch(engine, device, self._bindings, self._clock)
        self._complaints = Complaints()
        self._sent = 0  # commands since the last wait
        self._spans: dict[int, Any] = {}  # where the times of spans are that were not told yet
        self._doomed: list[int] = []
        self._profiler: Observer | None = None
        self._counters = dict.fromkeys(
            (
                "dispatches",
                "copies",
                "submits",
                "uploads",
                "readbacks",
                "draws",
                "pipelines_created",
            ),
            0,
        )
        self.failed: set[int] = set()
        self.is_short_of_memory = False
        self.refused: set[int] = set()
        self.is_ahead = False  # always: nothing is held up here
        self.observers: list[Observer] = []
        self.loss: list[int] = [0]
        self._captured: Kept | None = None

    # -- pipelines -------------------------------------------------------------------------------

    def create_pipeline(
        self,
        *,
        label: str,
        file: str,
        code: str,
        entry_point: str,
        signature: str,
        constants: Mapping[str, float],
        parameter_format: str,
        immediate: bool,
        kernel: str = "",
        ahead: bool = False,
        sized: bool = False,
        sections: Sequence[Section] = (),
    ) -> Pipeline:
        """Makes a pipeline, which is compiled in the background."""
        with self._lock:
            self._check(label)
            nbytes = 4 * len(parameter_format)
            uniform = nbytes > 0 and not immediate
            immediate_bytes = nbytes if immediate else 0
            given = list(sections) or [(file, 1)]
            try:
                layout = self._bindings.layout(signature)
                step = Step(next(self._numbers), label, layout, sized, parameter_format, uniform)
                step.recorded = "" if ahead else users_place()
                self._compiler.start(step, code, entry_point, constants, immediate_bytes, given)
            except Exception as error:  # each engine has classes of its own
                if self._tells_of_loss(error):
                    self._check(label)
                raise
            self._counters["pipelines_created"] += 1
            self._steps[step.number] = step
            if not ahead:
                self._wanted.append(step)
            pipeline = Pipeline(
                step.number, label, 0, _not_packed, kernel, code if sized else "",
                sum(map(str.isalpha, signature)),
            )  # fmt: skip
            finalize(pipeline, self._unheld.append, step.number).atexit = False
        return pipeline

    async def compiled(self, pipeline: Pipeline) -> None:
        """Waits until a pipeline is compiled or refused. Raises NotInitialized where the device is
        closed meanwhile."""
        step = self._steps[pipeline.id]
        if step.future is not None:
            await without_the_loop(lambda: self._wait_for(step))

    def _wait_for(self, step: Step) -> None:
        try:
            if step.future is not None:
                step.future.result()
        except CancelledError:  # by close()
            self._complaints.raise_end(step.label)

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Whether a pipeline is compiled; None where it was refused."""
        step = self._steps[pipeline.id]
        if step.future is not None and not step.future.done():
            return False
        return None if step.failure is not None else True

    def _usable(self, step: Step) -> bool:
        """Waits for a step to be compiled; notes that it was refused."""
        if step.future is not None:
            self._wait_for(step)
            step.future = None
        if step.failure is not None:
            self._complaints.note(step.failure)
            self.refused.add(step.number)
        return step.failure is None

    # -- recording -------------------------------------------------------------------------------

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Records one dispatch: grid x, y, z, then buffer ids, then parameters, in their order."""
        step = self._steps[pipeline.id]
        end = 3 + step.group_words
        key: Any = fields[3:end]
        try:
            data = b"" if step.pack is None else step.pack(*fields[end:])
        except UNFIT:
            raise unfit(step.label, fields) from None
        self._record(step, fields[:3], key, data, self._ffi.from_buffer(data))
        for observer in self.observers:
            observer(pipeline, fields)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Packed:
        """A dispatch on the buffers of those ids, for :meth:`repeat`."""
        fields = (*step.grid, *step.pick(ids), *step.fields)
        ours = self._steps[step.pipeline.id]
        end = 3 + ours.group_words
        try:
            data = b"" if ours.pack is None else ours.pack(*fields[end:])
        except UNFIT:
            raise unfit(ours.label, fields) from None
        pointer = self._ffi.from_buffer(data)
        return Packed(step.pipeline, fields, ours, fields[:3], fields[3:end], data, pointer)

    def repeat(self, packed: Packed) -> None:
        """Records what was :meth:`packed`."""
        pipeline, fields, step, grid, key, data, pointer = packed
        self._record(step, grid, key, data, pointer)
        for observer in self.observers:
            observer(pipeline, fields)

    def _record(
        self, step: Step, grid: tuple[Any, ...], key: Key, data: bytes, pointer: Any
    ) -> None:
        with self._lock:
            if (captured := self.captured) is not None:
                captured.commands.append((step, grid, key, data, pointer))
            try:
                self._encode(step, grid, key, data, pointer)
            except Exception as error:  # each engine has classes of its own
                self._refuse(step.label, error)

    def _encode(
        self, step: Step, grid: tuple[Any, ...], key: Key, data: bytes, pointer: Any
    ) -> None:
        batch, profile = self._batch, self._clock.profile
        if batch.size == 0:
            self.flush()
        if (step.handle is None or step.future is not None) and not self._usable(step):
            if profile is not None:
                profile.dispatches += 1
            return
        group = step.layout.groups.get(key)
        if group is None:
            group = self._bindings.make(step.layout, key)
        batch.dispatch(step, group, grid, data, pointer)
        self._counters["dispatches"] += 1
        if profile is not None:
            profile.dispatches += 1
            if not profile.timestamps and self._submit():
                profile.time_by_wall(self._done)
        if batch.size >= self._per_submit:
            self._submit()

    def copy(self, source: int, source_at: int, target: int, target_at: int, nbytes: int) -> None:
        """Records a copy between two buffers; offsets and size are multiples of 4."""
        with self._reporting("copy"):
            self._transfer(source, source_at, target, target_at, nbytes)
            if (captured := self.captured) is not None:
                captured.commands.append((source, source_at, target, target_at, nbytes))
                captured.ids.update((source, target))

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Records zeroing a range of a buffer; offset and size are multiples of 4."""
        with self._reporting("clear"):
            self._transfer(buffer, at, nbytes)
            if (captured := self.captured) is not None:
                captured.commands.append((buffer, at, nbytes))
                captured.ids.add(buffer)

    def _transfer(self, buffer: int, at: int, *rest: int) -> None:
        if self._batch.size == 0:
            self.flush()
        self._counters["copies"] += 1
        encoder, first = self._batch.encoder(), self._buffers[buffer]
        if len(rest) == 1:
            encoder.clear_buffer(first, at, *rest)
        else:
            target, target_at, nbytes = rest
            encoder.copy_buffer_to_buffer(first, at, self._buffers[target], target_at, nbytes)

    def flush(self) -> None:
        """Everything is encoded at once: only what was freed goes now."""
        with self._lock:
            self._check("device")
            self._destroy_doomed()

    def submit(self) -> None:
        """Sends everything recorded so far to the GPU, without waiting."""
        with self._lock:
            self.flush()
            self._submit()

    def _check(self, op: str) -> None:
        if self._complaints.closed or self._complaints.lost:
            self._complaints.raise_end(op)
        if os.getpid() != self._process:
            raise DeviceError(
                op,
                "a process that was forked cannot use its parent's GPU device; start it by the "
                "method 'spawn', or open a device in it",
            )

    @contextmanager
    def _reporting(self, op: str) -> Iterator[None]:
        """The lock, and what the engine raises meanwhile is told by the next wait."""
        with self._lock:
            try:
                yield
            except Exception as error:  # each engine has classes of its own
                self._refuse(op, error)

    def _refuse(self, op: str, error: Exception) -> None:
        if isinstance(error, BackendError):
            raise error
        self._note(op, error)
        self._check(op)

    def _submit(self) -> bool:
        """Sends the open batch; False where it was dropped."""
        batch = self._batch
        if not batch.size:
            return True
        self._sent += batch.size
        sent = True
        try:
            self._queue.submit([batch.finish()])
            self._counters["submits"] += 1
        except Exception as error:  # each engine has classes of its own
            sent = False
            if not self._tells_of_loss(error):
                self._note(batch.culprit() or "submit", error)
        batch.clear()
        if self._clock.profile is not None:
            self._clock.profile.end_batch(sent=sent)
        return sent

    # -- capturing -------------------------------------------------------------------------------

    @property
    def captured(self) -> Kept | None:  # type: ignore[override]
        """What takes the commands that are recorded in this thread or task."""
        captured = self._captured
        return captured if captured is not None and captured.is_here else None

    def start_capture(self, captured: Captured | None = None) -> Kept:
        """Keeps the commands that are recorded from now on."""
        with self._lock:
            self._check("capture")
            kept = self._captured = captured if isinstance(captured, Kept) else Kept()
            self.observers.append(kept.note)
            return kept

    def stop_capture(self) -> None:
        """Keeps no more."""
        with self._lock:
            captured, self._captured = self._captured, None
            if captured is not None:
                self.observers.remove(captured.note)

    def place_of_last(self, words: int) -> tuple[int, int]:
        """The number of its command, and the bytes at the end of its parameters."""
        captured = self.captured
        assert captured is not None
        return len(captured.commands) - 1, 4 * words

    def replay(self, captured: Captured, changes: Sequence[tuple[Any, Sequence[int]]]) -> None:
        """Records all commands of a capture again."""
        assert isinstance(captured, Kept)
        others = {number: (back, words) for (number, back), words in changes}
        with self._reporting("replay"):
            self.flush()
            for number, command in enumerate(captured.commands):
                if isinstance(command[0], int):
                    self._transfer(*command)
                    continue
                step, grid, key, data, pointer = command
                if number in others:
                    back, words = others[number]
                    first = len(data) - back
                    new = pack(f"<{len(words)}I", *words)
                    data = data[:first] + new + data[first + len(new) :]
                    pointer = self._ffi.from_buffer(data)
                self._encode(step, grid, key, data, pointer)
        for observer in self.observers:
            for pipeline, fields in captured.dispatches:
                observer(pipeline, fields)

    # -- buffers ---------------------------------------------------------------------------------

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        """Makes a buffer known under an id."""
        with self._lock:
            error = self._make(identity, nbytes, label)
            if error is None:
                return
            if self._tells_of_loss(error):
                self._check(op)
            message = str(error)
            self._complaints.note(lambda: no_room(op, label, requested, message))
            self.is_short_of_memory = True
            self.failed.add(identity)
            # In its place, so that what is recorded on it meanwhile has something to work on.
            self._buffers[identity] = self._device.create_buffer(
                size=nbytes if nbytes <= 1 << 20 else 1 << 20, usage=self._buffer_usage
            )

    @property
    def _buffer_usage(self) -> Any:
        usage = self._usage
        return usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST

    def _make(self, identity: int, nbytes: int, label: str) -> Exception | None:
        try:
            self._buffers[identity] = self._device.create_buffer(
                size=nbytes, usage=self._buffer_usage, label=label
            )
        except Exception as error:  # each engine has classes of its own
            return error
        return None

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """:meth:`create_buffer` that says whether there was room."""
        with self._lock:
            self._check("alloc")
            error = self._make(identity, nbytes, label)
            if error is not None and self._tells_of_loss(error):
                self._check("alloc")
            return error is None

    def abandon_buffer(self, identity: int) -> None:
        """Destroys what an interrupted :meth:`create_buffer_checked` has made."""
        if identity in self._buffers:
            self.destroy_buffer(identity)

    def label_buffer(self, identity: int, label: str) -> None:
        """Engines name a buffer when it is made, and never again."""

    def destroy_buffer(self, identity: int) -> None:
        """Destroys a buffer after the commands that were recorded for it."""
        self.failed.discard(identity)
        self._doomed.append(identity)

    def _destroy_doomed(self) -> None:
        while self._unheld:
            number = self._unheld.pop()
            self.refused.discard(number)
            del self._steps[number]  # what is recorded holds it until it is sent
        if not self._doomed:
            return
        self._submit()  # wgpu-native ends the process where a batch uses a buffer that is gone
        while self._doomed:
            identity = self._doomed.pop()
            self._bindings.forget_buffer(identity)
            self._buffers.pop(identity).destroy()

    def trim_staging(self) -> None:
        """Destroys the buffers that wait to carry data again."""
        with self._lock:
            self._check("device")
            self._transfers.trim()

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Uploads ``nbytes`` of a bytes-like object; the rest of a last word becomes 0."""
        with self._reporting("write"):
            self.flush()
            self._submit()  # what was recorded comes first
            self._transfers.write(self._buffers[buffer], at, source, nbytes)
            self._counters["uploads"] += 1

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fills ``target`` from a buffer; ``at`` and ``nbytes`` are multiples of 4."""
        pieces: list[Piece] = []
        with self._reporting("read"):
            self.flush()
            # In the open batch: to submit costs as much as all the rest of a small read.
            encoder = self._batch.encoder()
            pieces = self._transfers.begin(encoder, self._buffers[buffer], at, nbytes)
            self._send()

        def work() -> None:
            with self._reporting("read"):
                if not self._complaints.closed:
                    self._transfers.finish(pieces, target)

        try:
            async with self._complaints.wait() as raise_errors:
                raise_errors()
                await without_the_loop(work)
        finally:
            with self._lock:
                if not self._complaints.closed:
                    self._transfers.give_back(pieces)
        self._counters["readbacks"] += 1
        self._sent = 0

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Waits until the GPU has done everything, and raises what it reported."""
        with self._lock:
            self.flush()
        async with self._complaints.wait():

            def work() -> None:
                with self._lock:
                    self._send()
                    self._done()

            await without_the_loop(work)

    def _send(self) -> None:
        """Submits, after all that is wrong with shaders has been noted."""
        wanted, self._wanted = self._wanted, []
        for step in wanted:
            if step.future is not None:
                self._usable(step)
        self._submit()

    def _done(self) -> None:
        try:
            self._fences.finish()
        except Exception as error:  # each engine has classes of its own
            self._note("synchronize", error)
        self._sent = 0

    def _note(self, op: str, error: Exception) -> None:
        if not self._tells_of_loss(error):
            self._complaints.note_failure(op, error)
            self.is_short_of_memory |= isinstance(error, MemoryError)

    def _tells_of_loss(self, error: Exception) -> bool:
        """Whether an engine's error says that the device is gone, which is known from now on."""
        if "is lost" not in str(error):
            return False
        self._complaints.lost = str(error).splitlines()[0]
        self.loss[0] = 1
        return True

    async def catch_up(self) -> None:
        """Waits until the GPU has done what was recorded; what it reported is left for others."""

        def work() -> None:
            with self._lock:
                self._submit()
                self._done()

        await without_the_loop(work)

    # -- timing ----------------------------------------------------------------------------------

    def start_timing(self) -> bool:
        """Starts to measure the GPU's time; False where the device has no timestamp-query."""
        with self._lock:
            self.submit()
            if "timestamp-query" not in self.features:
                return False
            self._clock.start()
            return True

    async def stop_timing(self) -> float:
        """Nanoseconds from the first dispatch after :meth:`start_timing` to the end of the last;
        -1 if there was none."""
        begin, end = 1.0, 0.0
        with self._reporting("stop_timing"):
            self._check("device")
            queries = self._clock.stop()
            if queries is not None:
                encoder = self._batch.encoder()
                ((begin, end),) = self._clock.read(encoder, self._submit, queries, 2)
        return end - begin

    def start_span(self) -> None:
        """Times what is recorded until :meth:`end_span`, without waiting."""
        with self._lock:
            self.submit()
            self._clock.start()

    def end_span(self, number: int) -> None:
        """Ends it; :meth:`spans` will tell its time by this number."""
        with self._reporting("end_span"):
            queries = self._clock.stop()
            self._spans[number] = (
                None if queries is None else self._clock.resolved(self._batch.encoder(), queries, 2)
            )
            self._submit()

    def spans(self) -> dict[int, float]:
        """Nanoseconds of the spans that were not told yet, once the GPU has done everything."""
        found: dict[int, float] = {}
        with self._reporting("spans"):
            if self._sent or self._batch.size:
                return found
            for number in list(self._spans):
                span = self._spans.pop(number)
                begin, end = (1, 0) if span is None else self._clock.times(span, 2)[0]
                found[number] = end - begin
        return found

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Times each dispatch by itself from now on, by the GPU's clock or by wall time."""
        with self._lock:
            self.submit()
            self._clock.start_profile(timestamps and "timestamp-query" in self.features)
            self._profiler = observer
            self.observers.insert(0, observer)  # before debugging's, which may raise

    @property
    def is_profiled(self) -> bool:
        """Whether a profile was started and not stopped."""
        return self._profiler is not None

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Start and end of each dispatch since :meth:`start_profile`, in nanoseconds; None for one
        that did not run, as it was refused."""
        if self._profiler is not None:
            self.observers.remove(self._profiler)
            self._profiler = None
        profile = self._clock.profile
        assert profile is not None
        with self._reporting("stop_profile"):
            self._submit()
            self._clock.profile = None
            self._check("device")
            for queries, used, numbers in profile.sets:
                spans = self._clock.read(self._batch.encoder(), self._submit, queries, used)
                for number, span in zip(numbers, spans, strict=True):
                    if any(span):
                        profile.spans[number] = span
        await self.synchronize()
        return profile.told()

    # -- canvas, statistics and the end ------------------------------------------------------------

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """There is nothing to draw on."""
        return "there is no canvas outside a browser"

    @property
    def counters(self) -> dict[str, int]:
        """What was done so far and what is alive now, by name."""
        with self._lock:
            if not self._complaints.closed:
                self._destroy_doomed()
            return {
                **self._counters,
                "bind_groups_created": self._bindings.made,
                "buffers": len(self._buffers),
                "bind_groups": self._bindings.live,
                "pipelines": len(self._steps),
                "staging": self._transfers.staging,
                "waiting": 0,
                "errors": len(self._complaints),
            }

    @property
    def compile_ms(self) -> float:
        """Milliseconds that making pipelines took, as far as it is known by now."""
        return self._compiler.milliseconds

    @property
    def unfinished(self) -> int:
        """Commands that the GPU is not known to have finished."""
        self.flush()
        return self._batch.size + self._sent

    @property
    def recovery(self) -> str:
        """What the device's user does after a loss."""
        return self._complaints.recovery

    @recovery.setter
    def recovery(self, text: str) -> None:
        self._complaints.recovery = text

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._complaints.closed

    def close(self) -> None:
        """Destroys the device and everything on it."""
        with self._lock:
            if self._complaints.closed:
                return
            if not self.is_lost and os.getpid() == self._process:
                self._submit()
            self._complaints.closed = True
            self._compiler.close()
            self._batch.clear()
            self._buffers.clear()
            self._bindings.forget()
            self._transfers.trim()
            self._device.destroy()


def _not_packed(*_fields: Any) -> None:
    """Nothing is packed here: commands are encoded at once."""
