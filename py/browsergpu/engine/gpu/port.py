"""Interface to one GPU. Packages above this one use a GPU only through it.

``gpu.browser`` implements it by the page's WebGPU, ``gpu.native`` by an engine outside a browser.
Buffers and pipelines are small integers. A GPU runs commands in the order of recording. No method
waits for the GPU except ``read``, ``synchronize`` and methods whose docstring says so. An error
that the GPU reports late is raised by the next wait, in the name of the operation that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from struct import error as StructError
from typing import Any, NamedTuple, Protocol

from browsergpu.engine.core import places
from browsergpu.engine.core.blocks import OfBlock
from browsergpu.engine.core.errors import DeviceLost, NotInitialized, OutOfMemory, Unsupported
from browsergpu.engine.core.places import Line, Section
from browsergpu.engine.core.showing import byte_count
from browsergpu.engine.gpu.program import BoundStep


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Pipeline:
    """A compiled kernel in one configuration, ready to dispatch.

    The GPU keeps the pipeline for as long as this object is alive.
    """

    id: int
    label: str
    nbytes: int
    pack_into: Callable[..., None]
    kernel: str = ""  # name in the kernel table; "" for custom kernels
    code: str = ""  # source, for custom kernels
    access: str = ""  # for each buffer of a dispatch: "r" if it is read, "w" if it may be written

    @property
    def bindings(self) -> int:
        """The number of buffers of a dispatch."""
        return len(self.access)

    def written(self, fields: Sequence[Any]) -> list[int]:
        """Return the ids of the buffers that a dispatch with these fields may write."""
        return [fields[3 + at] for at, access in enumerate(self.access) if access == "w"]


#: A callback for each dispatch. It gets the pipeline, then the grid, buffer ids and parameters.
Observer = Callable[[Pipeline, tuple[float, ...]], None]


class Command(NamedTuple):
    """The buffers of a captured command: a dispatch, a copy or a clear.

    ``access`` has "r" for each buffer that is only read, and "w" for each that may be written.
    """

    ids: tuple[int, ...]
    access: str
    is_dispatch: bool

    @property
    def written(self) -> list[int]:
        """The ids of the buffers that the command may write."""
        return [one for one, access in zip(self.ids, self.access, strict=True) if access == "w"]

    def renamed(self, ids: Mapping[int, int]) -> Command:
        """Return the command on other buffers."""
        return self._replace(ids=tuple([ids.get(one, one) for one in self.ids]))


class Captured(OfBlock):
    """Commands recorded between :meth:`Gpu.start_capture` and :meth:`Gpu.stop_capture`.

    The GPU keeps them for replays.
    """

    def __init__(self) -> None:
        super().__init__()
        #: Ids of the buffers that the commands use.
        self.ids: set[int] = set()
        #: Ids of the buffers that the commands may write.
        self.written: set[int] = set()
        #: The places of each buffer id in the commands, for replays with other buffers.
        self.uses: dict[int, list[Any]] = {}
        #: The dispatches, as observers get them. The list keeps the pipelines alive.
        self.dispatches: list[tuple[Pipeline, tuple[float, ...]]] = []
        #: The user's lines of each dispatch.
        self.lines: list[tuple[Line, ...]] = []
        #: Positions of the parameters of open steps, which a replay may replace.
        self.lates: list[Any] = []
        #: The buffers of each command.
        self.commands: list[Command] = []
        #: Numbers of the commands that are open steps.
        self.open: set[int] = set()
        #: Buffers that were allocated during the capture, by the number of the next command.
        self.allocated: list[tuple[int, int]] = []

    def add(self, ids: tuple[int, ...], access: str, *, is_dispatch: bool = False) -> None:
        """Add a command."""
        command = Command(ids, access, is_dispatch)
        self.commands.append(command)
        self.ids.update(ids)
        self.written.update(command.written)

    def allocate(self, identity: int) -> None:
        """Note that a buffer was allocated and has undefined contents."""
        self.allocated.append((len(self.commands), identity))

    def note(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        """Add a dispatch. Used as an observer."""
        if not self.is_here:
            return
        self.dispatches.append((pipeline, fields))
        self.lines.append(places.current())
        ids: Any = tuple(fields[3 : 3 + pipeline.bindings])
        self.add(ids, pipeline.access, is_dispatch=True)

    def move(
        self, moved: Container[int], renamed: Mapping[int, Mapping[int, int]], other: Captured
    ) -> None:
        """Move commands to another capture, without the commands themselves.

        ``renamed`` has other buffers for some commands, moved or not, by the commands' numbers.
        """
        dispatches = iter(zip(self.dispatches, self.lines, strict=True))
        commands, opened = self.commands, self.open
        for one in (self, other):
            one.ids, one.written, one.open, one.allocated = set(), set(), set(), []
            one.dispatches, one.lines, one.commands = [], [], []
        for number, command in enumerate(commands):
            to = other if number in moved else self
            if command.is_dispatch:
                dispatch, own = next(dispatches)
                to.dispatches.append(dispatch)
                to.lines.append(own)
            if number in opened:
                to.open.add(len(to.commands))
            now = command.renamed(renamed[number]) if number in renamed else command
            to.add(*now[:2], is_dispatch=command.is_dispatch)

    def tell(self, observers: Sequence[Observer]) -> None:
        """Call observers for each dispatch of a replay."""
        for observer in observers:
            for (pipeline, fields), own in zip(self.dispatches, self.lines, strict=True):
                with places.announced(own):
                    observer(pipeline, fields)


#: Advice for a lost device that neither arrays nor a backend opened.
OPEN_ANOTHER = "Open another with Device.request()."


class Gpu(Protocol):
    """One GPU device.

    Attributes
    ----------
    features : frozenset of str
        WebGPU feature names.
    limits : mapping
        WebGPU limits by name.
    has_immediates : bool
        Whether kernels can take their parameters as immediates.
    failed : set of int
        Ids of buffers that were requested without waiting and did not fit.
    is_short_of_memory : bool
        Set when the GPU reports such a failure. The pool resets it.
    refused : set of int
        Ids of pipelines whose shader is known not to compile.
    is_ahead : bool
        Set when so many commands are unfinished that :meth:`catch_up` should run before recording
        more.
    unpaced : int
        While it is not 0, ``is_ahead`` is not set.
    observers : list of Observer
        Called after each recorded dispatch.
    loss : sequence of int
        The first item is nonzero once the device is known to be lost.
    captured : Captured or None
        The capture of the current task, if any.
    recovery : str
        Advice for the user after a loss.
    """

    features: frozenset[str]
    limits: Mapping[str, int]
    has_immediates: bool
    failed: set[int]
    is_short_of_memory: bool
    refused: set[int]
    is_ahead: bool
    unpaced: int = 0
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
        """Create a pipeline, which is compiled in the background.

        The next wait raises the error of a shader that does not compile. With ``ahead``, the next
        wait after the first dispatch raises it.

        Parameters
        ----------
        signature : str
            For each binding its number, then r (read-only storage), w (storage) or u (uniform), as
            in "0r1w".
        ahead : bool
            Whether the pipeline is compiled before it is needed.
        sized : bool
            Whether dispatches give, after the buffer ids, the number of words to bind of each
            buffer.
        sections : sequence of Section
            The files that make up the code, each with its first line in the code. Errors name the
            line of the user's code that added the file, or that requested the pipeline.
        """

    async def compiled(self, pipeline: Pipeline) -> None:
        """Wait until a pipeline is compiled or refused, or the device is gone."""

    def is_compiled(self, pipeline: Pipeline) -> bool | None:
        """Return whether a pipeline is compiled, or None if it was refused. Does not wait."""

    # -- recording -------------------------------------------------------------------------------

    def run(
        self, steps: Sequence[BoundStep], ids: tuple[int, ...], late: tuple[float, ...] = ()
    ) -> None:
        """Record a program's steps on the buffers with the given ids.

        ``late`` are the missing parameters of the program's open steps.
        """
        for pipeline, grid, pick, fields, is_open in steps:
            if pipeline is None:
                source, target = pick(ids)
                self.copy(source, 0, target, 0, *fields)  # type: ignore[arg-type]
            elif is_open:
                self.dispatch(pipeline, *grid, *pick(ids), *fields, *late)
                if (captured := self.captured) is not None:
                    captured.lates.append(self.place_of_last(len(late)))
                    captured.open.add(len(captured.commands) - 1)
            else:
                self.dispatch(pipeline, *grid, *pick(ids), *fields)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Any:
        """Return a dispatch on the given buffers, encoded for :meth:`repeat`.

        The step must not be open.
        """

    def repeat(self, packed: Any) -> None:
        """Record a dispatch that :meth:`packed` encoded."""

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        """Record a dispatch: grid x, y, z, then buffer ids, then parameters."""

    def copy(self, source: int, source_at: int, target: int, target_at: int, nbytes: int) -> None:
        """Record a copy between two buffers. Offsets and size are multiples of 4."""

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        """Record zeroing a range of a buffer. Offset and size are multiples of 4."""

    def flush(self) -> None:
        """Encode the recorded commands. Raise DeviceLost if the device is lost."""

    def submit(self) -> None:
        """Submit all recorded commands to the GPU, without waiting."""

    # -- capturing -------------------------------------------------------------------------------

    def start_capture(self, captured: Captured | None = None) -> Captured:
        """Keep the commands recorded from now on, which also run now.

        ``captured`` is a stopped capture to continue. Uploads and reads are not part of a capture.
        """
        raise NotImplementedError

    def stop_capture(self) -> None:
        """Stop the capture. Do nothing if there is none."""

    def place_of_last(self, words: int) -> Any:
        """Return the position of the last dispatch's last parameters in the capture.

        :meth:`replay` accepts it.
        """

    def divide(
        self,
        captured: Captured,
        moved: Container[int],
        renamed: Mapping[int, Mapping[int, int]],
    ) -> Captured:
        """Move commands of a stopped capture to one of their own, in the same order.

        Parameters
        ----------
        captured : Captured
            The capture.
        moved : container of int
            The numbers of the commands to move. None is an open step.
        renamed : mapping
            Ids of buffers and the ids that replace them, by the numbers of the commands in which
            they are replaced for good.

        Returns
        -------
        Captured
            The moved commands.
        """
        raise NotImplementedError

    def replay(
        self,
        captured: Captured,
        changes: Sequence[tuple[Any, Sequence[int]]],
        buffers: Mapping[int, int],
    ) -> None:
        """Record all commands of a capture again. Their buffers must still exist.

        ``changes`` are pairs of a position and the words that replace the captured ones there.
        ``buffers`` maps ids of captured buffers to the ids that replace them in this replay.
        """

    # -- buffers ---------------------------------------------------------------------------------

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        """Create a buffer under an id, on a GPU where :meth:`try_buffer` returns None.

        If there is no room, the next wait raises OutOfMemory in the name of ``op``, and ``failed``
        contains the id.
        """
        if not self.try_buffer(identity, nbytes, label):
            raise no_room(op, label, requested, "the allocation failed at once")

    def try_buffer(self, identity: int, nbytes: int, label: str) -> bool | None:
        """Create a buffer under an id. Return False if there is no room.

        Return None, without creating a buffer, if only a wait can tell whether there is room.
        """
        return None

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """Create a buffer and wait for the result. Return False if there is no room."""
        return bool(self.try_buffer(identity, nbytes, label))

    def abandon_buffer(self, identity: int) -> None:
        """Destroy the buffer that an interrupted call created or is about to create."""

    def label_buffer(self, identity: int, label: str) -> None:
        """Set a buffer's name in developer tools."""

    def destroy_buffer(self, identity: int) -> None:
        """Destroy a buffer after the recorded commands that use it."""

    def trim_staging(self) -> None:
        """Destroy the idle staging buffers."""

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Upload ``nbytes`` of a bytes-like object. The rest of the last word becomes 0."""

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> None:
        """Fill ``target`` from a buffer. ``at`` and ``nbytes`` are multiples of 4."""

    # -- waiting and errors ----------------------------------------------------------------------

    async def synchronize(self) -> None:
        """Wait until the GPU has finished all commands, and raise reported errors."""

    async def catch_up(self) -> None:
        """Wait until the GPU has finished the recorded commands. Does not raise reported errors."""

    # -- timing ----------------------------------------------------------------------------------

    def start_timing(self) -> bool:
        """Start measuring GPU time. Return False if the device lacks timestamp-query."""

    async def stop_timing(self) -> float:
        """Return the nanoseconds of the dispatches since :meth:`start_timing`. Waits for them.

        The time runs from the start of the first to the end of the last. It is -1 if there were
        none.
        """

    def start_span(self) -> None:
        """Time the commands recorded until :meth:`end_span` by the GPU's clock, without waiting.

        The device must have timestamp-query.
        """

    def end_span(self, number: int) -> None:
        """End a span. :meth:`spans` reports its time under ``number``."""

    def spans(self) -> Mapping[int, float]:
        """Return the known times of spans in nanoseconds, each only once. Does not wait.

        Keys are the spans' numbers. A time is -1 if the span has no dispatch, or if another
        measurement ran during it. All times are known after :meth:`synchronize`.
        """

    def start_profile(self, timestamps: bool, observer: Observer) -> None:
        """Time each dispatch separately from now on, by the GPU's clock or by wall time."""

    @property
    def is_profiled(self) -> bool:
        """Whether a profile is in progress."""

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Return start and end of each dispatch since :meth:`start_profile`, in ns. Waits.

        The entry is None for a dispatch that did not run because its pipeline was refused.
        """

    # -- canvas, statistics and the end ------------------------------------------------------------

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """Paint a buffer on a canvas. Return "", or the reason why it is impossible."""

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of past events and of live objects, by name."""

    @property
    def compile_ms(self) -> float:
        """Milliseconds of pipeline creation that are known by now."""

    @property
    def unfinished(self) -> int:
        """Number of dispatches that the GPU is not known to have finished."""

    @property
    def is_lost(self) -> bool:
        """Whether the device is known to be lost."""
        return self.loss[0] != 0

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""

    def close(self) -> None:
        """Destroy the device and everything on it.

        Pending waits and later commands raise NotInitialized.
        """


#: Errors of Python's struct for numbers that do not fit.
UNFIT = (StructError, OverflowError)


def unfit(label: str, fields: Sequence[Any]) -> Unsupported:
    """Return the error for a dispatch with numbers that do not fit into 32-bit words.

    Callers should check numbers before recording, as :meth:`Device.bound` does.
    """
    return Unsupported(
        label, f"numbers of a dispatch must fit 32 bits, got {[*fields]}. Work in smaller pieces."
    )


def lost(op: str, recovery: str, reason: str = "") -> DeviceLost:
    """Return the error for a call on a lost device. ``recovery`` is the advice in it."""
    why = f" ({reason.rstrip('.')})" if reason else ""
    return DeviceLost(op, f"the GPU device was lost{why}. {recovery}")


def closed(op: str) -> NotInitialized:
    """Return the error for a call on a closed device."""
    return NotInitialized(op, "the device is closed. Open one with init() or Device.request().")


def no_room(op: str, label: str, requested: int, why: str) -> OutOfMemory:
    """Return the error for a buffer that does not fit on the GPU."""
    return OutOfMemory(
        op,
        f"the GPU has no room for buffer {label!r} of {byte_count(requested)} ({why}). Free it and "
        "other unneeded buffers.",
        requested,
    )
