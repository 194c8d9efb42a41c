"""Python's side of the recorder: packs commands into one pinned ring and hands over batches.

No call reaches JavaScript until the ring is full, a result is read, or somebody waits. The
commands' form is described at the top of recorder/main.js, whose modules decode them. They are
joined into recorder.js when the wheel is built.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from struct import Struct
from typing import Any, NamedTuple, NoReturn
from weakref import finalize

from browsergpu.core.errors import (
    OutOfMemory,
    ShaderCompilation,
    ValidationError,
)
from browsergpu.core.places import Section, users_place
from browsergpu.core.showing import Shown
from browsergpu.gpu.browser import interop as _js
from browsergpu.gpu.port import (
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
from browsergpu.gpu.program import BoundStep

# Few, so that the GPU starts early and little is left to do at the end: a submit costs 20 µs, a
# small dispatch takes 4 to 7 µs.
_RING_WORDS = 512
_RING_BYTES = 4 * _RING_WORDS
# Of them are used at first, so that the GPU's side soon knows whether the commands are long ones.
_FIRST_BYTES = _RING_BYTES // 4
_LEAST_BYTES = _RING_BYTES // 16
_LOST, _AHEAD = 1, 2  # what JavaScript says of a ring
_DISPATCHES_PER_SUBMIT = 64
_COPY = Struct("<6I")
_CLEAR = Struct("<4I")


class Packed(NamedTuple):
    """A dispatch as JavaScript reads it, and as observers do."""

    command: bytes
    nbytes: int
    pipeline: Pipeline
    fields: tuple[float, ...]


class Kept(Captured):
    """Commands that JavaScript keeps under an id, in so many batches."""

    def __init__(self, identity: int) -> None:
        super().__init__()
        self.id = identity
        self.batches = 0


class Recorder(Shown, Gpu):
    """One GPUDevice of the page: records dispatches, copies, uploads and reads."""

    def __init__(self, gpu_device: Any, *, one_by_one: bool = False) -> None:
        self.features = frozenset(str(feature) for feature in gpu_device.features)
        self.limits = _js.limits(gpu_device.limits)
        self.has_immediates = "immediate_address_space" in _js.wgsl_language_features()
        self._ring = array("I", bytes(4 * (_RING_WORDS + 1)))  # and a word that tells of a loss
        self._bytes = memoryview(self._ring).cast("B")
        self._end = 0
        self._most = _FIRST_BYTES
        #: One word: not 0 when the device is known to be gone. JavaScript sets it.
        self.recovery = OPEN_ANOTHER
        self.loss = memoryview(self._ring)[_RING_WORDS:]
        self._pinned = _js.pin(self._ring)
        create = _js.load_function(
            files("browsergpu.gpu.browser").joinpath("recorder.js").read_text("utf-8")
        )
        per_submit = 1 if one_by_one else _DISPATCHES_PER_SUBMIT
        options = _js.to_object({"dispatchesPerSubmit": per_submit})
        self._recorder = create(gpu_device, self._pinned, options)
        self._record = self._recorder.record
        self._write = self._recorder.write
        self._tickets = count(1)  # of waits
        self._captures = count(1)
        self._capturing: Kept | None = None
        self._is_kept = False  # whether JavaScript keeps what is in the ring
        self._told = 0  # errors that were taken note of
        self._doomed: list[int] = []  # buffers to be destroyed
        self._unheld: list[int] = []  # pipelines to be dropped
        self._closed = False
        self._profiler: Observer | None = None
        #: Ids of buffers that were asked for without waiting, and that the GPU had no room for.
        self.failed: set[int] = set()
        #: Whether the GPU has reported a lack of memory; for BufferPool to answer and to unset.
        self.is_short_of_memory = False
        #: Ids of pipelines whose shader does not compile, as was told.
        self.refused: set[int] = set()
        #: Whether :meth:`catch_up` should come before more is recorded.
        self.is_ahead = False
        #: Called after each dispatch is recorded: debugging and profiling look on by it.
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
        """Makes a pipeline, which is compiled in the background. A shader that does not compile is
        reported by the next wait; ``ahead`` of need, by the next wait after its first dispatch.

        A ``sized`` one, of a user's kernel, does not bind all that a buffer of the pool has: its
        dispatches say after the ids how many words of each to bind, 0 for all of them.

        ``sections`` are the files that the code is joined from, each with its first line there, in
        their order: an error is told by its place in one of them, and else in ``file``. It also
        tells where the user's code has brought that file, or else has asked for the pipeline.
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
            sum(map(str.isalpha, signature)),
        )  # fmt: skip
        # With the next flush: nobody who records it can have let go of it before.
        finalize(pipeline, self._unheld.append, identity).atexit = False
        return pipeline

    async def compiled(self, pipeline: Pipeline) -> None:
        """Waits until a pipeline is compiled or refused, or the device is gone."""
        await self._recorder.compiled(pipeline.id)

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Whether a pipeline is compiled; None where it was refused."""
        state = int(self._recorder.stateOf(pipeline.id))
        return None if state < 0 else state > 0

    # -- recording -------------------------------------------------------------------------------

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Records one dispatch: grid x, y, z, then buffer ids (for a sized pipeline also words to
        bind of each), then parameters, in their order."""
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
        """A dispatch on the buffers of those ids, for :meth:`repeat`."""
        pipeline, grid, pick, fields, _ = step
        all_fields = (*grid, *pick(ids), *fields)
        command = bytearray(pipeline.nbytes)
        try:
            pipeline.pack_into(command, 0, pipeline.id, *all_fields)
        except UNFIT:
            raise unfit(pipeline.label, all_fields) from None
        return Packed(bytes(command), pipeline.nbytes, pipeline, all_fields)

    def repeat(self, packed: Packed) -> None:
        """Records what was :meth:`packed`."""
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
        """Records a copy between two buffers; offsets and size are multiples of 4."""
        self._transfer(_COPY, 0, source, source_at, target, target_at, nbytes)
        if (captured := self.captured) is not None:
            captured.ids.update((source, target))

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Records zeroing a range of a buffer; offset and size are multiples of 4."""
        self._transfer(_CLEAR, 1, buffer, at, nbytes)
        if (captured := self.captured) is not None:
            captured.ids.add(buffer)

    def _transfer(self, form: Struct, *words: int) -> None:
        if self._capturing is not None:
            self._keep_own()
        if self._end + form.size > self._most:
            self.flush()
        form.pack_into(self._ring, self._end, *words)
        self._end += form.size

    def flush(self) -> None:
        """Hands the recorded commands to JavaScript, which encodes them.

        Raises DeviceLost where the device is gone, NotInitialized where it is closed.
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
        # What is in the ring when it is found to be too much cannot be taken back either.
        if self.is_ahead:
            self._most = max(self._most // 2, _LEAST_BYTES)
        else:
            self._most = min(self._most * 2, _RING_BYTES)

    def _look_at(self, said: int) -> None:
        if said == _LOST:
            self.raise_errors()
        self.is_ahead = said == _AHEAD

    def submit(self) -> None:
        """Sends everything recorded so far to the GPU, without waiting."""
        self.flush()
        self._recorder.submit()

    # -- capturing -------------------------------------------------------------------------------

    def start_capture(self, captured: Captured | None = None) -> Kept:
        """Keeps the commands that are recorded from now on by the block's tasks, in JavaScript's
        memory."""
        self.flush()
        if not isinstance(captured, Kept):
            captured = Kept(next(self._captures))
            finalize(captured, self._recorder.dropCapture, captured.id).atexit = False
        self._recorder.startCapture(captured.id)
        self._capturing, self._is_kept = captured, True
        self.observers.append(captured.note)
        return captured

    def stop_capture(self) -> None:
        """Keeps no more."""
        captured = self._capturing
        if captured is None:
            return
        try:
            if not self._closed:
                self.flush()
        finally:
            self._capturing, self._is_kept = None, False
            self.observers.remove(captured.note)
            if not self._closed:
                self._recorder.stopCapture()

    @property
    def captured(self) -> Kept | None:  # type: ignore[override]
        """What takes the commands that are recorded in this task."""
        captured = self._capturing
        return captured if captured is not None and captured.is_here else None

    def _keep_own(self) -> None:
        """While something is captured: has JavaScript keep what is recorded next if it is of the
        block's tasks, and only then."""
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
        """Its batch, and the word in it."""
        captured = self.captured
        assert captured is not None
        return captured.batches, (self._end >> 2) - words

    def replay(self, captured: Captured, changes: Sequence[tuple[Any, Sequence[int]]]) -> None:
        """Records all commands of a capture again: one call."""
        assert isinstance(captured, Kept)
        if self._capturing is not None:
            self._keep_own()
        self.flush()
        others = [(*place, [*words]) for place, words in changes]
        self._look_at(self._recorder.replay(captured.id, json.dumps(others)))
        for observer in self.observers:
            for pipeline, fields in captured.dispatches:
                observer(pipeline, fields)

    # -- buffers ---------------------------------------------------------------------------------

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        """Makes a GPUBuffer known under an id. Where the GPU has no room for it, the next wait
        raises OutOfMemory in the name of ``op``, which had ``requested`` so many bytes, and the id
        is among ``failed``."""
        self._recorder.createBuffer(identity, nbytes, label, op, requested)

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """:meth:`create_buffer` that waits for the GPU's answer. False where there is no room;
        the id is then free."""
        return bool(await self._recorder.createBufferChecked(identity, nbytes, label))

    def abandon_buffer(self, identity: int) -> None:
        """Destroys what :meth:`create_buffer_checked` makes or has made, after a wait for it that
        was cut short."""
        if not self._closed:
            self._recorder.abandonBuffer(identity)

    def label_buffer(self, identity: int, label: str) -> None:
        """Names a buffer to the browser's tools."""
        self._recorder.labelBuffer(identity, label)

    def trim_staging(self) -> None:
        """Destroys the buffers that wait to read back again."""
        self._recorder.trimStaging()

    def destroy_buffer(self, identity: int) -> None:
        """Destroys a buffer with the next flush, after the commands that were recorded for it.

        Not at once: a garbage collection may free buffers while a command is being recorded.
        """
        self.failed.discard(identity)
        self._doomed.append(identity)

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Uploads ``nbytes`` of a bytes-like object; the rest of a last word becomes 0."""
        self.flush()
        self._write(buffer, at, source, nbytes)

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fills ``target`` from a buffer; ``at`` and ``nbytes`` are multiples of 4."""
        self.flush()
        pinned = _js.pin(target)
        try:
            with self._wait() as ticket:
                await self._recorder.read(ticket, buffer, at, nbytes, pinned)
        finally:
            pinned.destroy()

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Waits until the GPU has done everything, and raises what it reported."""
        self.flush()
        with self._wait() as ticket:
            await self._recorder.synchronize(ticket)

    async def catch_up(self) -> None:
        """Waits until the GPU has done what was recorded; what it reported is left for others."""
        await self._recorder.catchUp()
        self.is_ahead = False

    @contextmanager
    def _wait(self) -> Iterator[int]:
        """A block that waits for the GPU, known to JavaScript by the ticket. Raises at its end
        what the GPU has reported, also where another wait that ran beside it has raised the same.
        """
        ticket = next(self._tickets)
        try:
            yield ticket
        except BaseException:
            self._recorder.stopWait(ticket)  # what was reported is for others to raise
            raise
        self.is_ahead = False
        self._most = _FIRST_BYTES
        self.raise_errors(ticket)

    def raise_errors(self, ticket: int | None = None) -> None:
        """Raises the first error that the GPU has reported and nobody has raised, if any; at the
        end of a wait, with its ticket, also one that was raised elsewhere since it began."""
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
        """Starts to measure the GPU's time; False where the device has no timestamp-query."""
        self.flush()
        return bool(self._recorder.startTiming())

    async def stop_timing(self) -> float:
        """Nanoseconds that the GPU took from the first dispatch after :meth:`start_timing` to the
        end of the last one; -1 if there was none. Waits for them."""
        self.flush()
        return float(await self._recorder.stopTiming())

    def start_span(self) -> None:
        """Times what is recorded until :meth:`end_span`, without waiting."""
        self.flush()
        self._recorder.startSpan()

    def end_span(self, number: int) -> None:
        """Ends it; :meth:`spans` will tell its time by this number."""
        self.flush()
        self._recorder.endSpan(number)

    def spans(self) -> dict[int, float]:
        """Nanoseconds of the spans that were not told yet and are known."""
        return {int(number): float(ns) for number, ns in json.loads(self._recorder.takeSpans())}

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Times each dispatch by itself from now on, by the GPU's clock or by wall time."""
        self.flush()
        self._recorder.startProfile(timestamps)
        self._profiler = observer
        self.observers.insert(0, observer)  # before debugging's, which may raise

    @property
    def is_profiled(self) -> bool:
        """Whether a profile was started and not stopped."""
        return self._profiler is not None

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Start and end of each dispatch since :meth:`start_profile`, in nanoseconds; None for one
        that did not run, as it was refused. Waits."""
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
        """Paints a buffer on a canvas. Returns "" or why the canvas cannot be drawn on."""
        self.flush()
        return str(self._recorder.draw(canvas, buffer, height, width, channels, code))

    # -- statistics and the end --------------------------------------------------------------------

    @property
    def counters(self) -> dict[str, int]:
        """What was done so far (dispatches, submits, uploads, readbacks …) and what is alive
        now (buffers, bind_groups, pipelines, staging)."""
        if not self._closed:
            self.flush()
        counters: dict[str, int] = json.loads(self._recorder.statistics())
        return counters

    @property
    def compile_ms(self) -> float:
        """Milliseconds that making pipelines took, as far as the GPU has answered by now."""
        return float(self._recorder.compileMs())

    @property
    def unfinished(self) -> int:
        """Dispatches that the GPU is not known to have finished."""
        self.flush()
        return int(self._recorder.unfinished())

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def close(self) -> None:
        """Destroys the device and everything on it. What waits for it, and what is recorded from
        now on, raises NotInitialized."""
        if not self._closed:
            self._closed = True
            self._end = _RING_BYTES  # no room: to record something is to flush
            self._recorder.close()
            self._pinned.destroy()


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
