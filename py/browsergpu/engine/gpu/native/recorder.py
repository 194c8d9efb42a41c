"""Recorder for one GPU outside a browser. It appends commands to a queue that a Sender encodes.

All methods may be called from any thread. A freed buffer is destroyed by the next call, because
garbage collection may free it while a command is being encoded.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple
from weakref import finalize

from browsergpu.engine.core.places import Section, users_place
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.adapters import features_of, limits_of
from browsergpu.engine.gpu.native.compiling import Step
from browsergpu.engine.gpu.native.engine import Engine
from browsergpu.engine.gpu.native.sending import Command, Sender, with_buffers
from browsergpu.engine.gpu.native.transfers import Read
from browsergpu.engine.gpu.native.waiting import without_the_loop
from browsergpu.engine.gpu.port import UNFIT, Captured, Gpu, Observer, Pipeline, unfit
from browsergpu.engine.gpu.program import BoundStep


class Packed(NamedTuple):
    """A dispatch that can be recorded repeatedly."""

    pipeline: Pipeline
    fields: tuple[float, ...]
    command: Command


class Kept(Captured):
    """The commands of a capture."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[Command] = []

    def used(self, *buffers: int) -> None:
        """Note that the last command uses buffers."""
        for buffer in buffers:
            self.uses.setdefault(buffer, []).append(len(self.encoded) - 1)


class Recorder(Shown, Gpu):
    """One device of an engine."""

    def __init__(self, engine: Engine, device: Any, *, one_by_one: bool = False) -> None:
        self._from_buffer = engine.ffi.from_buffer
        self._sender = Sender(engine, device, one_by_one=one_by_one)
        self._complaints = self._sender.complaints
        self._steps = self._sender.steps
        self.features = features_of(device)
        self.limits = limits_of(device)
        self.has_immediates = self.limits.get("maxImmediateSize", 0) >= 64
        self._numbers = count()
        self._spans: dict[int, Any] = {}  # times of unreported spans
        self._profiler: Observer | None = None
        self.failed: set[int] = set()  # always empty: creating a buffer reports a failure
        self.is_ahead = False  # always False: recording is never delayed
        self.observers: list[Observer] = []
        self.refused = self._sender.refused
        self.loss = self._sender.loss
        self._captured: Kept | None = None

    @property
    def is_short_of_memory(self) -> bool:
        """Whether the engine has reported a lack of memory."""
        return self._sender.is_short_of_memory

    @is_short_of_memory.setter
    def is_short_of_memory(self, value: bool) -> None:
        self._sender.is_short_of_memory = value

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
        """Create a pipeline, which is compiled in the background."""
        nbytes = 4 * len(parameter_format)
        uniform = nbytes > 0 and not immediate
        given = list(sections) or [(file, 1)]
        recorded = "" if ahead else users_place()
        number = next(self._numbers)
        sender = self._sender

        def make() -> None:
            sender.check(label)
            try:
                layout = sender.bindings.layout(signature)
                step = Step(number, label, layout, sized, parameter_format, uniform)
                step.recorded = recorded
                sender.compiler.start(
                    step, code, entry_point, constants, nbytes if immediate else 0, given
                )
            except Exception as error:  # each engine has its own exception classes
                if sender.tells_of_loss(error):
                    sender.check(label)
                raise
            sender.counters["pipelines_created"] += 1
            sender.steps[number] = step
            if not ahead:
                sender.wanted.append(step)

        sender.call(make)
        pipeline = Pipeline(
            number, label, 0, _not_packed, kernel, code if sized else "",
            "".join(filter(str.isalpha, signature)),
        )  # fmt: skip
        finalize(pipeline, sender.let_go, number).atexit = False
        return pipeline

    async def compiled(self, pipeline: Pipeline) -> None:
        """Wait until a pipeline is compiled or refused.

        Raises NotInitialized if the device is closed in the meantime.
        """
        step = self._steps[pipeline.id]
        if step.future is not None:
            await without_the_loop(lambda: self._sender.wait_for(step))

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Return whether a pipeline is compiled, or None if it was refused."""
        step = self._steps[pipeline.id]
        if step.future is not None and not step.future.done():
            return False
        return None if step.failure is not None else True

    # -- recording -------------------------------------------------------------------------------

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Record a dispatch: grid x, y, z, then buffer ids, then parameters."""
        command = self._command(pipeline, fields)
        self._record(command)
        for observer in self.observers:
            observer(pipeline, fields)

    def _command(self, pipeline: Pipeline, fields: tuple[float, ...]) -> Command:
        step = self._steps[pipeline.id]
        end = 3 + step.group_words
        key: Any = fields[3:end]
        try:
            data = b"" if step.pack is None else step.pack(*fields[end:])
        except UNFIT:
            raise unfit(step.label, fields) from None
        return step, fields[:3], key, data, self._from_buffer(data)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Packed:
        """Return a dispatch on the given buffers, encoded for :meth:`repeat`."""
        fields = (*step.grid, *step.pick(ids), *step.fields)
        return Packed(step.pipeline, fields, self._command(step.pipeline, fields))

    def repeat(self, packed: Packed) -> None:
        """Record a dispatch that :meth:`packed` encoded."""
        pipeline, fields, command = packed
        if self._captured is None:
            self._sender.add(command)
        else:
            self._record(command)
        for observer in self.observers:
            observer(pipeline, fields)

    def _record(self, command: Command) -> None:
        if self._captured is not None and (captured := self.captured) is not None:
            captured.encoded.append(command)
        self._sender.add(command)

    def copy(self, source: int, source_at: int, target: int, target_at: int, nbytes: int) -> None:
        """Record a copy between two buffers. Offsets and size are multiples of 4."""
        self._record((source, source_at, target, target_at, nbytes))
        if (captured := self.captured) is not None:
            captured.add((source, target), "rw")
            captured.used(source, target)

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Record zeroing a range of a buffer. Offset and size are multiples of 4."""
        self._record((buffer, at, nbytes))
        if (captured := self.captured) is not None:
            captured.add((buffer,), "w")
            captured.used(buffer)

    def flush(self) -> None:
        """Encode the recorded commands, and destroy the freed buffers."""
        self._sender.encode()

    def submit(self) -> None:
        """Submit all recorded commands to the GPU, without waiting."""
        self._sender.submit()

    # -- capturing -------------------------------------------------------------------------------

    @property
    def captured(self) -> Kept | None:  # type: ignore[override]
        """The capture of the current thread or task, or None."""
        captured = self._captured
        return captured if captured is not None and captured.is_here else None

    def start_capture(self, captured: Captured | None = None) -> Kept:
        """Keep the commands recorded from now on."""
        self._sender.check("capture")
        kept = self._captured = captured if isinstance(captured, Kept) else Kept()
        self.observers.append(kept.note)
        self.observers.append(self._note_uses)
        return kept

    def stop_capture(self) -> None:
        """Stop the capture."""
        captured, self._captured = self._captured, None
        if captured is not None:
            self.observers.remove(captured.note)
            self.observers.remove(self._note_uses)

    def _note_uses(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        if (captured := self.captured) is not None:
            captured.used(*fields[3 : 3 + pipeline.bindings])  # type: ignore[arg-type]

    def place_of_last(self, words: int) -> tuple[int, int]:
        """Return the number of the last command, and the bytes at the end of its parameters."""
        captured = self.captured
        assert captured is not None
        return len(captured.encoded) - 1, 4 * words

    def divide(
        self,
        captured: Captured,
        moved: Container[int],
        renamed: Mapping[int, Mapping[int, int]],
    ) -> Kept:
        """Move commands of a stopped capture to one of their own, in the same order."""
        assert isinstance(captured, Kept)
        other = Kept()
        places: dict[int, int] = {}
        encoded, captured.encoded = captured.encoded, []
        for number, command in enumerate(encoded):
            to = other if number in moved else captured
            places[number] = len(to.encoded)
            ids = renamed.get(number)
            to.encoded.append(command if ids is None else with_buffers(command, ids))
        captured.lates = [(places[number], back) for number, back in captured.lates]
        captured.move(moved, renamed, other)
        for one in (captured, other):
            one.uses = {}
            for number, command in enumerate(one.commands):
                for buffer in command.ids:
                    one.uses.setdefault(buffer, []).append(number)
        return other

    def replay(
        self,
        captured: Captured,
        changes: Sequence[tuple[Any, Sequence[int]]],
        buffers: Mapping[int, int],
    ) -> None:
        """Record all commands of a capture again."""
        assert isinstance(captured, Kept)
        others = {number: (back, words) for (number, back), words in changes}
        swapped = {one for buffer in buffers for one in captured.uses.get(buffer, ())}
        self._sender.add_all(captured.encoded, others, swapped, buffers)
        captured.tell(self.observers)

    # -- buffers ---------------------------------------------------------------------------------

    def try_buffer(self, identity: int, nbytes: int, label: str) -> bool:
        """Create a buffer under an id. Return False if there is no room."""
        return self._sender.make(identity, nbytes, label)

    def abandon_buffer(self, identity: int) -> None:
        """Destroy the buffer of an interrupted :meth:`try_buffer`."""
        self._sender.doom(identity)

    def label_buffer(self, identity: int, label: str) -> None:
        """Do nothing, since engines name a buffer only when it is created."""

    def destroy_buffer(self, identity: int) -> None:
        """Destroy a buffer after the recorded commands that use it."""
        self._sender.doom(identity)

    def trim_staging(self) -> None:
        """Destroy the idle staging buffers."""
        self._sender.attempt("trim", self._sender.transfers.trim)

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Upload ``nbytes`` of a bytes-like object. The rest of the last word becomes 0."""
        self._sender.attempt("write", lambda: self._sender.write(buffer, at, source, nbytes))

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fill ``target`` from a buffer. ``at`` and ``nbytes`` are multiples of 4."""
        sender = self._sender
        read = sender.attempt("read", lambda: sender.begin(buffer, at, nbytes)) or Read([])
        try:
            async with self._complaints.wait() as raise_errors:
                raise_errors()
                await without_the_loop(lambda: self._finish(read, target))
        finally:
            read.is_wanted = False
        sender.counters["readbacks"] += 1
        sender.sent = 0

    def _finish(self, read: Read, target: memoryview) -> None:
        def finish() -> None:
            try:
                if not self._complaints.closed:
                    self._sender.transfers.finish(read, target)
            except Exception as error:  # each engine has its own exception classes
                self._sender.note("read", error)

        self._sender.call(finish)

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Wait until the GPU has finished all commands, and raise reported errors."""
        self._sender.encode()
        async with self._complaints.wait():
            await without_the_loop(lambda: self._sender.call(self._sender.finish))

    async def catch_up(self) -> None:
        """Wait until the GPU has finished the recorded commands. Does not raise reported errors."""

        def work() -> None:
            self._sender.send_batch()
            self._sender.wait()

        self._sender.encode()
        await without_the_loop(lambda: self._sender.call(work))

    # -- timing ----------------------------------------------------------------------------------

    def start_timing(self) -> bool:
        """Start measuring GPU time. Return False if the device lacks timestamp-query."""
        has_clock = "timestamp-query" in self.features
        self.submit()
        if has_clock:
            self._sender.call(self._sender.clock.start)
        return has_clock

    async def stop_timing(self) -> float:
        """Return the nanoseconds of the dispatches since :meth:`start_timing`. Waits for them.

        The time runs from the start of the first to the end of the last. It is -1 if there were
        none.
        """
        sender = self._sender

        def times() -> tuple[float, float]:
            queries = sender.clock.stop()
            if queries is None:
                return 1.0, 0.0
            (span,) = sender.clock.read(sender.batch.encoder(), sender.send_batch, queries, 2)
            return span

        begin, end = sender.attempt("stop_timing", times) or (1.0, 0.0)
        return end - begin

    def start_span(self) -> None:
        """Time the commands recorded until :meth:`end_span`, without waiting."""
        self.submit()
        self._sender.call(self._sender.clock.start)

    def end_span(self, number: int) -> None:
        """End a span. :meth:`spans` reports its time under ``number``."""
        sender = self._sender

        def end() -> None:
            queries = sender.clock.stop()
            self._spans[number] = (
                None
                if queries is None
                else sender.clock.resolved(sender.batch.encoder(), queries, 2)
            )
            sender.send_batch()

        sender.attempt("end_span", end)

    def spans(self) -> dict[int, float]:
        """Return the times of spans in nanoseconds, each only once, when the GPU is idle."""
        return self._sender.attempt("spans", self._take_spans) or {}

    def _take_spans(self) -> dict[int, float]:
        found: dict[int, float] = {}
        if self._sender.sent or self._sender.batch.size:
            return found
        for number in list(self._spans):
            span = self._spans.pop(number)
            begin, end = (1, 0) if span is None else self._sender.clock.times(span, 2)[0]
            found[number] = end - begin
        return found

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Time each dispatch separately from now on, by the GPU's clock or by wall time."""
        self.submit()
        by_clock = timestamps and "timestamp-query" in self.features
        self._sender.call(lambda: self._sender.clock.start_profile(by_clock))
        self._profiler = observer
        self.observers.insert(0, observer)  # before the debugging observer, which may raise

    @property
    def is_profiled(self) -> bool:
        """Whether a profile is in progress."""
        return self._profiler is not None

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Return start and end of each dispatch since :meth:`start_profile`, in ns. Waits.

        The entry is None for a dispatch that did not run because its pipeline was refused.
        """
        if self._profiler is not None:
            self.observers.remove(self._profiler)
            self._profiler = None
        sender = self._sender
        profile = sender.clock.profile
        assert profile is not None

        def stop() -> None:
            sender.send_batch()
            sender.clock.profile = None
            for queries, used, numbers in profile.sets:
                spans = sender.clock.read(sender.batch.encoder(), sender.send_batch, queries, used)
                for number, span in zip(numbers, spans, strict=True):
                    if any(span):
                        profile.spans[number] = span

        sender.attempt("stop_profile", stop)
        await self.synchronize()
        return profile.told()

    # -- canvas, statistics and the end ------------------------------------------------------------

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """Return the reason why nothing can be drawn."""
        return "there is no canvas outside a browser"

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of past events and of live objects, by name."""
        sender = self._sender

        def counted() -> dict[str, int]:
            return {
                **sender.counters,
                "bind_groups_created": sender.bindings.made,
                "buffers": len(sender.buffers),
                "bind_groups": sender.bindings.live,
                "pipelines": len(sender.steps),
                "staging": sender.transfers.staging,
                "waiting": 0,
                "errors": len(sender.complaints),
            }

        if not self._complaints.closed and not self.is_lost:
            sender.encode()
        return sender.call(counted)

    @property
    def compile_ms(self) -> float:
        """Milliseconds of pipeline creation that are known by now."""
        return self._sender.compiler.milliseconds

    @property
    def unfinished(self) -> int:
        """Number of commands that the GPU is not known to have finished."""
        self.flush()
        return self._sender.batch.size + self._sender.sent

    @property
    def recovery(self) -> str:
        """Advice for the user after a loss."""
        return self._complaints.recovery

    @recovery.setter
    def recovery(self, text: str) -> None:
        self._complaints.recovery = text

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._complaints.closed

    def close(self) -> None:
        """Destroy the device and everything on it."""
        self._sender.close()


def _not_packed(*_fields: Any) -> None:
    """Do nothing, since commands are encoded directly."""
