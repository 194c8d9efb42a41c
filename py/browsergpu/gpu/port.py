"""The port: what the package asks of a GPU, and nothing else of it is known above this room.

``gpu.browser`` fulfils it with the page's WebGPU. Buffers and pipelines are small integers; the
commands of a GPU are done in the order in which they were recorded, and nothing waits for them but
``read``, ``synchronize`` and what says so. What the GPU reports late is raised by the next wait, in
the name of the operation that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from struct import error as StructError
from typing import Any, Protocol

from browsergpu.core.blocks import OfBlock
from browsergpu.core.errors import DeviceLost, NotInitialized, OutOfMemory, Unsupported
from browsergpu.core.places import Section
from browsergpu.core.showing import byte_count
from browsergpu.gpu.program import BoundStep


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Pipeline:
    """A compiled kernel in one configuration, ready to be dispatched. The GPU has it as long as
    somebody holds this."""

    id: int
    label: str
    nbytes: int
    pack_into: Callable[..., None]
    kernel: str = ""  # its name in the table; none for those that users bring
    code: str = ""  # of those that users bring
    bindings: int = 0  # the buffers that a dispatch names


#: Takes a dispatch's pipeline, and its grid, buffer ids and parameters.
Observer = Callable[[Pipeline, tuple[float, ...]], None]


class Captured(OfBlock):
    """Commands that a GPU keeps as they are recorded, to be replayed: between
    :meth:`Gpu.start_capture` and :meth:`Gpu.stop_capture`."""

    def __init__(self) -> None:
        super().__init__()
        #: The ids of the buffers that they use.
        self.ids: set[int] = set()
        #: Its dispatches, as observers are told of them. It keeps their pipelines.
        self.dispatches: list[tuple[Pipeline, tuple[float, ...]]] = []
        #: Where the parameters of open steps are, which another replay may have others of.
        self.lates: list[Any] = []

    def note(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        """An observer."""
        if not self.is_here:
            return
        self.dispatches.append((pipeline, fields))
        self.ids.update(fields[3 : 3 + pipeline.bindings])  # type: ignore[arg-type]


#: What to do after a loss of a device that neither arrays nor a backend opened.
OPEN_ANOTHER = "Open another with Device.request()."


class Gpu(Protocol):
    """One GPU device.

    ``features`` and ``limits`` go by WebGPU's names; ``has_immediates``: kernels can take their
    parameters as immediates. ``failed`` are ids of buffers that were asked for without waiting, and
    that there was no room for; ``is_short_of_memory`` is set when that is reported, for the pool to
    unset. ``refused`` are ids of pipelines whose shader does not compile, as was told. ``is_ahead``
    is set when so much was recorded that is not done that :meth:`catch_up` should come before more.
    ``observers`` are called after each dispatch is recorded. The first item of ``loss`` is not 0
    once the device is known to be gone. ``captured`` is what takes the commands that are recorded
    here and now, if something does. ``recovery`` says what the device's user does after a loss.
    """

    features: frozenset[str]
    limits: Mapping[str, int]
    has_immediates: bool
    failed: set[int]
    is_short_of_memory: bool
    refused: set[int]
    is_ahead: bool
    observers: list[Observer]
    loss: Sequence[int]
    captured: Captured | None
    recovery: str

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
        ``signature`` is "0r1w": per binding its number, then r (read-only storage), w (storage) or
        u (uniform). ``sized``: its dispatches say after the ids how many words of each to bind.
        ``sections``: the files that the code is of, each with its first line there; an error tells
        where the user's code has brought the one that it is in, or has asked for the pipeline."""

    async def compiled(self, pipeline: Pipeline) -> None:
        """Waits until a pipeline is compiled or refused, or the device is gone."""

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Whether a pipeline is compiled; None where it was refused. Does not wait."""

    # -- recording -------------------------------------------------------------------------------

    def run(
        self, steps: Sequence[BoundStep], ids: tuple[int, ...], late: tuple[float, ...] = ()
    ) -> None:
        """Records a program's steps on the buffers of those ids; ``late`` are the parameters that
        its open steps still need."""
        for pipeline, grid, pick, fields, is_open in steps:
            if pipeline is None:
                source, target = pick(ids)
                self.copy(source, 0, target, 0, *fields)  # type: ignore[arg-type]
            elif is_open:
                self.dispatch(pipeline, *grid, *pick(ids), *fields, *late)
                if self.captured is not None:
                    self.captured.lates.append(self.place_of_last(len(late)))
            else:
                self.dispatch(pipeline, *grid, *pick(ids), *fields)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Any:
        """A dispatch, which needs no other parameters, on the buffers of those ids: what
        :meth:`repeat` records at once."""

    def repeat(self, packed: Any) -> None:
        """Records what was :meth:`packed`."""

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Records one dispatch: grid x, y, z, then buffer ids, then parameters, in their order."""

    def copy(self, source: int, source_at: int, target: int, target_at: int, nbytes: int) -> None:
        """Records a copy between two buffers; offsets and size are multiples of 4."""

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Records zeroing a range of a buffer; offset and size are multiples of 4."""

    def flush(self) -> None:
        """Hands what is recorded to the GPU's side. Raises DeviceLost where it is gone."""

    def submit(self) -> None:
        """Sends everything recorded so far to the GPU, without waiting."""

    # -- capturing -------------------------------------------------------------------------------

    def start_capture(self, captured: Captured | None = None) -> Captured:
        """Keeps the commands that are recorded from now on; they are done now, too. ``captured`` is
        one that was stopped before, which goes on. Uploads and reads are no commands of it."""
        raise NotImplementedError

    def stop_capture(self) -> None:
        """Keeps no more; nothing, where nothing is kept."""

    def place_of_last(self, words: int) -> Any:
        """Where what is captured has the last parameters of the last dispatch, for
        :meth:`replay`."""

    def replay(self, captured: Captured, changes: Sequence[tuple[Any, Sequence[int]]]) -> None:
        """Records all commands of a capture again, on buffers that must still be there; those
        words from those places on are others this time."""

    # -- buffers ---------------------------------------------------------------------------------

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        """Makes a buffer known under an id. Where there is no room for it, the next wait raises
        OutOfMemory in the name of ``op``, and the id is among ``failed``. For GPUs where
        :meth:`try_buffer` cannot tell."""
        if not self.try_buffer(identity, nbytes, label):
            raise no_room(op, label, requested, "it said so at once")

    def try_buffer(self, identity: int, nbytes: int, label: str) -> bool | None:
        """Makes a buffer known under an id; False where there is no room. None, and nothing is
        made, where only a wait can tell."""
        return None

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """:meth:`create_buffer` that waits for the answer. False where there is no room."""
        return bool(self.try_buffer(identity, nbytes, label))

    def abandon_buffer(self, identity: int) -> None:
        """Destroys what an interrupted call that makes a buffer has made or will make."""

    def label_buffer(self, identity: int, label: str) -> None:
        """Names a buffer to tools that look on."""

    def destroy_buffer(self, identity: int) -> None:
        """Destroys a buffer after the commands that were recorded for it."""

    def trim_staging(self) -> None:
        """Destroys the buffers that wait to carry data again."""

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Uploads ``nbytes`` of a bytes-like object; the rest of a last word becomes 0."""

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fills ``target`` from a buffer; ``at`` and ``nbytes`` are multiples of 4."""

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Waits until the GPU has done everything, and raises what it reported."""

    async def catch_up(self) -> None:
        """Waits until the GPU has done what was recorded; what it reported is left for others."""

    # -- timing ----------------------------------------------------------------------------------

    def start_timing(self) -> bool:
        """Starts to measure the GPU's time; False where the device has no timestamp-query."""

    async def stop_timing(self) -> float:
        """Nanoseconds from the first dispatch after :meth:`start_timing` to the end of the last;
        -1 if there was none. Waits for them."""

    def start_span(self) -> None:
        """Times what is recorded until :meth:`end_span` by the GPU's clock, without waiting. For
        devices that have timestamp-query."""

    def end_span(self, number: int) -> None:
        """Ends it; :meth:`spans` will tell its time by this number."""

    def spans(self) -> Mapping[int, float]:
        """Nanoseconds of the spans that were not told yet and are known, by their numbers; -1 for
        one that has no dispatch, or that something else was timed in. Does not wait; all are known
        after :meth:`synchronize`."""

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Times each dispatch by itself from now on, by the GPU's clock or by wall time."""

    @property
    def is_profiled(self) -> bool:
        """Whether a profile was started and not stopped."""

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Start and end of each dispatch since :meth:`start_profile`, in nanoseconds; None for one
        that did not run, as it was refused. Waits."""

    # -- canvas, statistics and the end ------------------------------------------------------------

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """Paints a buffer on a canvas. Returns "" or why the canvas cannot be drawn on."""

    @property
    def counters(self) -> dict[str, int]:
        """What was done so far and what is alive now, by name."""

    @property
    def compile_ms(self) -> float:
        """Milliseconds that making pipelines took, as far as it is known by now."""

    @property
    def unfinished(self) -> int:
        """Dispatches that the GPU is not known to have finished."""

    @property
    def is_lost(self) -> bool:
        """Whether the device is known to be gone."""
        return self.loss[0] != 0

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""

    def close(self) -> None:
        """Destroys the device and everything on it. What waits for it, and what is recorded from
        now on, raises NotInitialized."""


#: What Python's struct raises for numbers that do not fit.
UNFIT = (StructError, OverflowError)


def unfit(label: str, fields: Sequence[Any]) -> Unsupported:
    """The error for a dispatch whose numbers do not fit the words that they are packed into.
    What makes them is to check them before anything is recorded, as :meth:`Device.bound` does."""
    return Unsupported(
        label, f"a dispatch must be of words of 32 bits, got {[*fields]}. Work in smaller pieces."
    )


def lost(op: str, recovery: str, reason: str = "") -> DeviceLost:
    """The error for a call on a device that is gone; ``recovery`` says what to do."""
    why = f" ({reason.rstrip('.')})" if reason else ""
    return DeviceLost(op, f"the GPU device was lost{why}. {recovery}")


def closed(op: str) -> NotInitialized:
    """The error for a call on a device that was closed."""
    return NotInitialized(op, "the device is closed; init() or Device.request() opens one")


def no_room(op: str, label: str, requested: int, why: str) -> OutOfMemory:
    """The error for a buffer that the GPU has no room for."""
    return OutOfMemory(
        op,
        f"the GPU has no room for buffer {label!r} of {byte_count(requested)} ({why}). Free it and "
        "others that are no longer needed.",
        requested,
    )
