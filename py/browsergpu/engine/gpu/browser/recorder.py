"""Recorder of GPU commands, which packs them into a pinned ring and passes batches to JavaScript.

JavaScript is not called until the ring is full, a result is read, or a caller waits.
recorder/main.js describes the command format, and its modules decode it. Building the wheel joins
them into recorder.js.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from struct import Struct
from typing import Any, NamedTuple, NoReturn
from weakref import finalize

from browsergpu.engine.core.errors import (
    OutOfMemory,
    ShaderCompilation,
    ValidationError,
)
from browsergpu.engine.core.places import Section, users_place
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.browser import interop as _js
from browsergpu.engine.gpu.browser.waiting import Settled
from browsergpu.engine.gpu.port import (
    OPEN_ANOTHER,
    UNFIT,
    Captured,
    Gpu,
    Observer,
    Pipeline,
    closed,
    lost,
    no_room,
    unfit,
)
from browsergpu.engine.gpu.program import BoundStep

# Few words, so that the GPU starts early and little is left to do at the end. A submit costs 20 µs,
# a small dispatch takes 4 to 7 µs.
_RING_WORDS = 512
_RING_BYTES = 4 * _RING_WORDS
# Bytes used at first, so that JavaScript soon knows whether the commands are long.
_FIRST_BYTES = _RING_BYTES // 4
_LEAST_BYTES = _RING_BYTES // 16
_LOST, _AHEAD = 1, 2  # results of passing a ring to JavaScript
_DISPATCHES_PER_SUBMIT = 64
_COPY = Struct("<6I")
_CLEAR = Struct("<4I")
#: The words of a command: its batch, the first word there, the word after its last.
_Span = tuple[int, int, int]


class Packed(NamedTuple):
    """A dispatch, encoded for JavaScript, with the arguments for observers."""

    command: bytes
    nbytes: int
    pipeline: Pipeline
    fields: tuple[float, ...]


class Kept(Captured):
    """Commands that JavaScript keeps under an id, with their number of batches."""

    def __init__(self, identity: int) -> None:
        super().__init__()
        self.id = identity
        self.batches = 0
        #: The words of each command.
        self.spans: list[_Span] = []

    def used(self, begin: int, end: int) -> None:
        """Note the words of the last command in the current batch."""
        self.spans.append((self.batches, begin, end))
        self.use(len(self.spans) - 1)

    def use(self, number: int) -> None:
        """Note the places of a command's buffers."""
        batch, begin, _ = self.spans[number]
        for buffer, at in zip(self.commands[number].ids, self.words(number), strict=True):
            self.uses.setdefault(buffer, []).append((batch, begin + at))

    def words(self, number: int) -> range:
        """Return the words of a command that are ids of buffers, counted from its first word."""
        command = self.commands[number]
        if command.is_dispatch:
            return range(4, 4 + len(command.ids))  # after the pipeline and the grid
        return range(1, 2 * len(command.ids), 2)


class Recorder(Shown, Gpu):
    """One GPUDevice of the page. Records dispatches, copies, uploads and reads."""

    def __init__(self, gpu_device: Any, *, one_by_one: bool = False) -> None:
        self.features = frozenset(str(feature) for feature in gpu_device.features)
        self.limits = _js.limits(gpu_device.limits)
        self.has_immediates = "immediate_address_space" in _js.wgsl_language_features()
        self._ring = array("I", bytes(4 * (_RING_WORDS + 1)))  # plus the word ``loss``
        self._bytes = memoryview(self._ring).cast("B")
        self._end = 0
        self._most = _FIRST_BYTES
        self.recovery = OPEN_ANOTHER
        #: One word, which JavaScript sets to nonzero when the device is lost.
        self.loss = memoryview(self._ring)[_RING_WORDS:]
        self._pinned = _js.pin(self._ring)
        create = _js.load_function(
            files("browsergpu.engine.gpu.browser").joinpath("recorder.js").read_text("utf-8")
        )
        per_submit = 1 if one_by_one else _DISPATCHES_PER_SUBMIT
        options = _js.to_object({"dispatchesPerSubmit": per_submit})
        self._recorder = create(gpu_device, self._pinned, options)
        self._record = self._recorder.record
        self._write = self._recorder.write
        self._tickets = count(1)  # ids of waits
        self._captures = count(1)
        self._capturing: Kept | None = None
        self._is_kept = False  # whether JavaScript keeps the commands of the ring
        self._told = 0  # number of the last error seen
        self._doomed: list[int] = []  # ids of buffers to destroy
        self._unheld: list[int] = []  # ids of pipelines to drop
        self._closed = False
        self._profiler: Observer | None = None
        #: Ids of buffers that were requested without waiting and did not fit.
        self.failed: set[int] = set()
        #: Whether the GPU has reported a lack of memory. BufferPool handles and resets it.
        self.is_short_of_memory = False
        #: Ids of pipelines whose shader is known not to compile.
        self.refused: set[int] = set()
        #: Whether :meth:`catch_up` should run before more is recorded.
        self.is_ahead = False
        #: Called after each recorded dispatch, for debugging and profiling.
        self.observers: list[Observer] = []

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
        """Create a pipeline, which is compiled in the background.

        The next wait raises the error of a shader that does not compile. With ``ahead``, the next
        wait after the first dispatch raises it.

        Parameters
        ----------
        sized : bool
            Whether dispatches give, after the buffer ids, the number of words to bind of each
            buffer, 0 for all. Used for custom kernels, because pooled buffers may be larger than
            the array.
        sections : sequence of Section
            The files that make up the code in order, each with its first line in the code. Errors
            give the position in one of them, else in ``file``. They also name the line of the
            user's code that added the file, or that requested the pipeline.
        """
        if self._closed:
            raise closed(label)
        bindings = sum(map(str.isalpha, signature)) * (2 if sized else 1)
        record = Struct("<IIII" + "I" * bindings + parameter_format)
        spec = {
            "label": label,
            "file": file,
            "sections": list(sections) or [(file, 1)],
            "code": code,
            "entryPoint": entry_point,
            "signature": signature,
            "constants": dict(constants),
            "parameterBytes": 4 * len(parameter_format),
            "immediate": immediate,
            "sized": sized,
            "recorded": "" if ahead else users_place(),
        }
        identity = self._recorder.createPipeline(json.dumps(spec), ahead)
        pipeline = Pipeline(
            identity, label, record.size, record.pack_into, kernel, code if sized else "",
            "".join(filter(str.isalpha, signature)),
        )  # fmt: skip
        # The pipeline is dropped at the next flush. A recorded dispatch is flushed by then.
        finalize(pipeline, self._unheld.append, identity).atexit = False
        return pipeline

    async def compiled(self, pipeline: Pipeline) -> None:
        """Wait until a pipeline is compiled or refused, or the device is gone."""
        await self._recorder.compiled(pipeline.id)

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Return whether a pipeline is compiled, or None if it was refused."""
        state = int(self._recorder.stateOf(pipeline.id))
        return None if state < 0 else state > 0

    # -- recording -------------------------------------------------------------------------------

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Record a dispatch: grid x, y, z, then buffer ids, then parameters.

        A sized pipeline takes the words to bind of each buffer after the buffer ids.
        """
        if self._capturing is not None:
            self._keep_own()
        at = self._end
        end = at + pipeline.nbytes
        if end > self._most:
            self.flush()
            at, end = 0, pipeline.nbytes
        try:
            pipeline.pack_into(self._ring, at, pipeline.id, *fields)
        except UNFIT:
            raise unfit(pipeline.label, fields) from None
        self._end = end
        for observer in self.observers:
            observer(pipeline, fields)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Packed:
        """Return a dispatch on the given buffers, encoded for :meth:`repeat`."""
        pipeline, grid, pick, fields, _ = step
        all_fields = (*grid, *pick(ids), *fields)
        command = bytearray(pipeline.nbytes)
        try:
            pipeline.pack_into(command, 0, pipeline.id, *all_fields)
        except UNFIT:
            raise unfit(pipeline.label, all_fields) from None
        return Packed(bytes(command), pipeline.nbytes, pipeline, all_fields)

    def repeat(self, packed: Packed) -> None:
        """Record a dispatch that :meth:`packed` encoded."""
        if self._capturing is not None:
            self._keep_own()
        command, nbytes, pipeline, fields = packed
        at = self._end
        end = at + nbytes
        if end > self._most:
            self.flush()
            at, end = 0, nbytes
        self._bytes[at:end] = command
        self._end = end
        if self.observers:
            for observer in self.observers:
                observer(pipeline, fields)

    def copy(self, source: int, source_at: int, target: int, target_at: int, nbytes: int) -> None:
        """Record a copy between two buffers. Offsets and size are multiples of 4."""
        self._transfer(_COPY, 0, source, source_at, target, target_at, nbytes)
        if (captured := self.captured) is not None:
            captured.add((source, target), "rw")
            captured.used((self._end - _COPY.size) >> 2, self._end >> 2)

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Record zeroing a range of a buffer. Offset and size are multiples of 4."""
        self._transfer(_CLEAR, 1, buffer, at, nbytes)
        if (captured := self.captured) is not None:
            captured.add((buffer,), "w")
            captured.used((self._end - _CLEAR.size) >> 2, self._end >> 2)

    def _transfer(self, form: Struct, *words: int) -> None:
        if self._capturing is not None:
            self._keep_own()
        if self._end + form.size > self._most:
            self.flush()
        form.pack_into(self._ring, self._end, *words)
        self._end += form.size

    def flush(self) -> None:
        """Pass the recorded commands to JavaScript, which encodes them.

        Raises
        ------
        DeviceLost
            If the device is lost.
        NotInitialized
            If the device is closed.
        """
        if self._closed:
            raise closed("device")
        end, self._end = self._end, 0
        said = self._record(end >> 2)
        if self._is_kept:
            assert self._capturing is not None
            self._capturing.batches += 1
        while self._doomed:
            self._recorder.destroyBuffer(self._doomed.pop())
        while self._unheld:
            identity = self._unheld.pop()
            self.refused.discard(identity)
            self._recorder.dropPipeline(identity)
        self._look_at(said)
        # When the GPU is found to be behind, a full ring has been encoded already, so later rings
        # are shorter.
        if self.is_ahead:
            self._most = max(self._most // 2, _LEAST_BYTES)
        else:
            self._most = min(self._most * 2, _RING_BYTES)

    def _look_at(self, said: int) -> None:
        if said == _LOST:
            self.raise_errors()
        self.is_ahead = said == _AHEAD and not self.unpaced

    def submit(self) -> None:
        """Submit all recorded commands to the GPU, without waiting."""
        self.flush()
        self._recorder.submit()

    # -- capturing -------------------------------------------------------------------------------

    def start_capture(self, captured: Captured | None = None) -> Kept:
        """Keep the commands that the block's tasks record from now on, in JavaScript's memory."""
        self.flush()
        if not isinstance(captured, Kept):
            captured = self._kept()
        self._recorder.startCapture(captured.id)
        self._capturing, self._is_kept = captured, True
        self.observers.append(captured.note)
        self.observers.append(self._note_uses)
        return captured

    def _kept(self) -> Kept:
        captured = Kept(next(self._captures))
        finalize(captured, self._recorder.dropCapture, captured.id).atexit = False
        return captured

    def stop_capture(self) -> None:
        """Stop the capture."""
        captured = self._capturing
        if captured is None:
            return
        try:
            if not self._closed:
                self.flush()
        finally:
            self._capturing, self._is_kept = None, False
            self.observers.remove(captured.note)
            self.observers.remove(self._note_uses)
            if not self._closed:
                self._recorder.stopCapture()

    @property
    def captured(self) -> Kept | None:  # type: ignore[override]
        """The capture of the current task, or None."""
        captured = self._capturing
        return captured if captured is not None and captured.is_here else None

    def _keep_own(self) -> None:
        """Tell JavaScript to keep the next commands only if a task of the capture records them."""
        captured = self._capturing
        assert captured is not None
        is_kept = captured.is_here
        if is_kept is self._is_kept:
            return
        self.flush()
        self._is_kept = is_kept
        if is_kept:
            self._recorder.startCapture(captured.id)
        else:
            self._recorder.stopCapture()

    def place_of_last(self, words: int) -> tuple[int, int]:
        """Return the batch of the parameters, and the word within it."""
        captured = self.captured
        assert captured is not None
        return captured.batches, (self._end >> 2) - words

    def _note_uses(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        captured = self.captured
        if captured is not None:
            captured.used((self._end - pipeline.nbytes) >> 2, self._end >> 2)

    def divide(
        self,
        captured: Captured,
        moved: Container[int],
        renamed: Mapping[int, Mapping[int, int]],
    ) -> Kept:
        """Move commands of a stopped capture to one of their own, in the same order."""
        assert isinstance(captured, Kept)
        other = self._kept()
        changes = [
            (batch, begin + at, [renamed[number][buffer]])
            for number, (batch, begin, _) in enumerate(captured.spans)
            if number in renamed
            for buffer, at in zip(
                captured.commands[number].ids, captured.words(number), strict=True
            )
            if buffer in renamed[number]
        ]
        taken = [span for number, span in enumerate(captured.spans) if number in moved]
        self._recorder.divideCapture(captured.id, other.id, json.dumps(changes), json.dumps(taken))
        captured.lates = [_left(taken, *place) for place in captured.lates]
        left = [span for number, span in enumerate(captured.spans) if number not in moved]
        captured.spans = [_shifted(taken, span) for span in left]
        other.spans = [_shifted(left, span) for span in taken]
        other.batches = captured.batches
        captured.move(moved, renamed, other)
        for one in (captured, other):
            one.uses = {}
            for number in range(len(one.commands)):
                one.use(number)
        return other

    def replay(
        self,
        captured: Captured,
        changes: Sequence[tuple[Any, Sequence[int]]],
        buffers: Mapping[int, int],
    ) -> None:
        """Record all commands of a capture again, by one call."""
        assert isinstance(captured, Kept)
        if self._capturing is not None:
            self._keep_own()
        self.flush()
        others = [(*place, [*words]) for place, words in changes]
        for buffer, other in buffers.items():
            if other != buffer:
                others += [(*place, [other]) for place in captured.uses.get(buffer, ())]
        self._look_at(self._recorder.replay(captured.id, json.dumps(others)))
        captured.tell(self.observers)

    # -- buffers ---------------------------------------------------------------------------------

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        """Create a GPUBuffer under an id.

        If there is no room, the next wait raises OutOfMemory in the name of ``op``, with
        ``requested`` as the number of bytes, and ``failed`` contains the id.
        """
        self._recorder.createBuffer(identity, nbytes, label, op, requested)

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """Create a GPUBuffer and wait. Without room, free the id and return False."""
        return bool(await self._recorder.createBufferChecked(identity, nbytes, label))

    def abandon_buffer(self, identity: int) -> None:
        """Destroy the buffer of a :meth:`create_buffer_checked` whose wait was interrupted.

        It may be created already or later.
        """
        if not self._closed:
            self._recorder.abandonBuffer(identity)

    def label_buffer(self, identity: int, label: str) -> None:
        """Set a buffer's name in the browser's developer tools."""
        self._recorder.labelBuffer(identity, label)

    def trim_staging(self) -> None:
        """Destroy the idle staging buffers."""
        self._recorder.trimStaging()

    def destroy_buffer(self, identity: int) -> None:
        """Destroy a buffer at the next flush, after the recorded commands that use it.

        It is not destroyed at once, because garbage collection may free buffers while a command is
        being recorded.
        """
        self.failed.discard(identity)
        self._doomed.append(identity)

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Upload ``nbytes`` of a bytes-like object. The rest of the last word becomes 0."""
        self.flush()
        self._write(buffer, at, source, nbytes)

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fill ``target`` from a buffer. ``at`` and ``nbytes`` are multiples of 4."""
        self.flush()
        pinned = _js.pin(target)
        try:
            with self._wait() as ticket:
                await Settled(self._recorder.read(ticket, buffer, at, nbytes, pinned)[0])
        finally:
            pinned.destroy()

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Wait until the GPU has finished all commands, and raise reported errors."""
        self.flush()
        with self._wait() as ticket:
            await Settled(self._recorder.synchronize(ticket)[0])

    async def catch_up(self) -> None:
        """Wait until the GPU has finished the recorded commands. Does not raise reported errors."""
        await Settled(self._recorder.catchUp()[0])
        self.is_ahead = False

    @contextmanager
    def _wait(self) -> Iterator[int]:
        """Register a wait for the GPU with JavaScript, under a ticket.

        At the end of the block, reported errors are raised, even if a concurrent wait has raised
        the same errors.
        """
        ticket = next(self._tickets)
        try:
            yield ticket
        except BaseException:
            self._recorder.stopWait(ticket)  # other waits raise the reported errors
            raise
        self.is_ahead = False
        self._most = _FIRST_BYTES
        self.raise_errors(ticket)

    def raise_errors(self, ticket: int | None = None) -> None:
        """Raise the first reported error that was not raised yet, if any.

        With the ticket of a wait, include errors that others raised since the wait began.
        """
        text = self._recorder.takeErrors(ticket)
        if not text:
            return
        reports = json.loads(text)
        for report in reports:
            if report["kind"] == "out-of-memory" and report["number"] > self._told:
                self.is_short_of_memory = True
                if "buffer" in report:
                    self.failed.add(report["buffer"])
            if report["kind"] == "shader":
                self.refused.add(report["pipeline"])
        self._told = max(self._told, reports[-1].get("number", 0))
        _raise(reports, self.recovery)

    # -- timing ----------------------------------------------------------------------------------

    def start_timing(self) -> bool:
        """Start measuring GPU time. Return False if the device lacks timestamp-query."""
        self.flush()
        return bool(self._recorder.startTiming())

    async def stop_timing(self) -> float:
        """Return the nanoseconds of the dispatches since :meth:`start_timing`. Waits for them.

        The time runs from the start of the first to the end of the last. It is -1 if there were
        none.
        """
        self.flush()
        return float(await self._recorder.stopTiming())

    def start_span(self) -> None:
        """Time the commands recorded until :meth:`end_span`, without waiting."""
        self.flush()
        self._recorder.startSpan()

    def end_span(self, number: int) -> None:
        """End a span. :meth:`spans` reports its time under ``number``."""
        self.flush()
        self._recorder.endSpan(number)

    def spans(self) -> dict[int, float]:
        """Return the known times of spans in nanoseconds, each only once."""
        return {int(number): float(ns) for number, ns in json.loads(self._recorder.takeSpans())}

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Time each dispatch separately from now on, by the GPU's clock or by wall time."""
        self.flush()
        self._recorder.startProfile(timestamps)
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
        self.flush()
        with self._wait() as ticket:
            text = await self._recorder.stopProfile(ticket)
        return [None if span is None else (span[0], span[1]) for span in json.loads(text)]

    # -- canvas ----------------------------------------------------------------------------------

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """Paint a buffer on a canvas. Return "", or the reason why it is impossible."""
        self.flush()
        return str(self._recorder.draw(canvas, buffer, height, width, channels, code))

    # -- statistics and the end --------------------------------------------------------------------

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of past events and of live objects, by name.

        Events are dispatches, submits, uploads, readbacks and so on. Objects are buffers,
        bind_groups, pipelines and staging.
        """
        if not self._closed:
            self.flush()
        counters: dict[str, int] = json.loads(self._recorder.statistics())
        return counters

    @property
    def compile_ms(self) -> float:
        """Milliseconds of pipeline creation that the GPU has reported by now."""
        return float(self._recorder.compileMs())

    @property
    def unfinished(self) -> int:
        """Number of dispatches that the GPU is not known to have finished."""
        self.flush()
        return int(self._recorder.unfinished())

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def close(self) -> None:
        """Destroy the device and everything on it.

        Pending waits and later commands raise NotInitialized.
        """
        if not self._closed:
            self._closed = True
            self._end = _RING_BYTES  # no room, so recording a command flushes and raises
            self._recorder.close()
            self._pinned.destroy()


def _left(taken: Sequence[_Span], batch: int, at: int) -> tuple[int, int]:
    """Return the place of a word after spans were taken out of its batch."""
    before = (end - begin for one, begin, end in taken if one == batch and end <= at)
    return batch, at - sum(before)


def _shifted(taken: Sequence[_Span], span: _Span) -> _Span:
    """Return a span after others were taken out of its batch."""
    batch, begin, end = span
    _, first = _left(taken, batch, begin)
    return batch, first, first + end - begin


def _raise(reports: list[dict[str, Any]], recovery: str) -> NoReturn:
    first = reports[0]
    op, message = str(first["op"]), str(first["message"])
    if len(reports) > 1:
        message += f" (and {len(reports) - 1} more)"
    kind = first["kind"]
    if kind == "lost":
        raise lost(op, f"{recovery} If the browser gives no GPU, reload the page.", message)
    if kind == "closed":
        raise closed(op)
    if kind == "out-of-memory":
        if "buffer" in first:
            raise no_room(op, first["label"], first["requested"], message)
        raise OutOfMemory(op, message)
    if kind == "shader":
        place = first["file"], first["line"], first["column"]
        raise ShaderCompilation(op, message, *place, first["recorded"])
    raise ValidationError(op, message)
