"""Profiles of all kernels that run within a ``with`` block.

Times come from the GPU's clock if the device has ``timestamp-query``. Each dispatch then gets a
pass of its own. Browsers round this clock: Chrome to 0.1 ms, unless it is started with
--enable-webgpu-developer-features. Without that feature, times are wall time between the ends of
two submissions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from types import TracebackType
from typing import Any

from browsergpu.arrays.lazy.trace import tracer_of
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import BackendError, InvalidArgument, NotInitialized, Unsupported
from browsergpu.engine.core.files import replacing
from browsergpu.engine.core.places import Line, current
from browsergpu.engine.core.turns import TURN
from browsergpu.engine.device.device import Device, open_devices
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.port import Pipeline, lost
from browsergpu.engine.kernels.costs import work_of
from browsergpu.engine.kernels.fused.work import work
from browsergpu.engine.kernels.table import KERNELS


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One dispatch: its times on the GPU, in nanoseconds since the first dispatch, and its work.

    ``lines`` are the lines of your code that the kernel computes, as "file:line", in order. A fused
    kernel can have several. They are known for replays of captured graphs and compiled functions
    too.
    """

    name: str
    device: str
    start_ns: float
    duration_ns: float
    flops: float
    nbytes: float
    lines: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line of the last operation that the kernel computes, or "" if it is unknown."""
        return self.lines[-1] if self.lines else ""


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """All dispatches of one kernel. Rates are 0 if the work or the time is unknown."""

    name: str
    calls: int
    total_ns: float
    flops: float
    nbytes: float
    lines: tuple[str, ...] = ()

    @property
    def mean_us(self) -> float:
        """Microseconds per call."""
        return self.total_ns / self.calls / 1e3

    @property
    def gbytes_per_s(self) -> float:
        """Throughput in 10^9 bytes per second."""
        return self.nbytes / self.total_ns if self.total_ns else 0.0

    @property
    def gflops(self) -> float:
        """Throughput in 10^9 floating-point operations per second."""
        return self.flops / self.total_ns if self.total_ns else 0.0


_Recorded = list[tuple[Pipeline, tuple[float, ...], tuple[Line, ...]]]


class Profile:
    """The result of :func:`profile`, complete when its block has ended."""

    def __init__(self, devices: list[Device], timestamps: bool) -> None:
        self._timestamps = timestamps
        self._devices = devices
        self._running: list[tuple[Device, _Recorded]] = []
        #: All dispatches in the order in which they ran, grouped by device.
        self.events: list[KernelEvent] = []
        #: "gpu" if times are from the GPU's clock, "wall" for wall time.
        self.clock = "gpu"

    def __enter__(self) -> Profile:
        if not platform.can_block():
            raise Unsupported("profile", "cannot block here; use `async with profile()`")
        return self._start()

    def _start(self) -> Profile:
        busy = self._running or any(device.recorder.is_profiled for device in self._devices)
        if busy or not self._devices:
            problem = "a profile of this device is running" if busy else "this profile has ended"
            raise Unsupported(
                "profile", f"{problem}. Profiles cannot nest, and each can be used once."
            )
        for device in self._devices:
            device.check_open("profile")
            if device.is_lost:
                raise lost("profile", device.recorder.recovery)
        for device in self._devices:
            own = self._timestamps and "timestamp-query" in device.features
            if not own:
                self.clock = "wall"
            self._running.append((device, _watch(device, own)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        platform.block_on(self._finish(error), "profile")

    async def __aenter__(self) -> Profile:
        return self._start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._finish(error)

    async def _finish(self, error: BaseException | None) -> None:
        """Stop all devices' profiles. Raise the first error unless the block raised one."""
        failure: BackendError | None = None
        running, self._running = self._running, []
        self._devices = []  # a finished profile keeps no device open
        for number, (device, recorded) in enumerate(running):
            name = device.name if number == 0 else f"{device.name} ({number + 1})"
            try:
                spans = await device.recorder.stop_profile()
            except BackendError as raised:
                failure = failure or raised
                continue
            origin = min((span[0] for span in spans if span is not None), default=0.0)
            for (pipeline, fields, own), span in zip(recorded, spans, strict=False):
                if span is None:
                    continue  # it was refused
                start, end = span
                flops, nbytes = _work(device, pipeline, fields)
                duration = max(end - start, 0.0)  # the clock may be reset between the two
                self.events.append(
                    KernelEvent(
                        pipeline.label,
                        name,
                        start - origin,
                        duration,
                        flops,
                        nbytes,
                        tuple([f"{file}:{line}" for file, line in own]),
                    )
                )
        if failure is not None and error is None:
            raise failure

    def summaries(self) -> list[KernelSummary]:
        """One summary per kernel, longest total time first."""
        names = dict.fromkeys(event.name for event in self.events)
        rows = []
        for name in names:
            events = [event for event in self.events if event.name == name]
            rows.append(
                KernelSummary(
                    name,
                    len(events),
                    sum(event.duration_ns for event in events),
                    sum(event.flops for event in events),
                    sum(event.nbytes for event in events),
                    tuple(dict.fromkeys(event.line for event in events if event.line)),
                )
            )
        return sorted(rows, key=lambda row: row.total_ns, reverse=True)

    @property
    def total_ns(self) -> float:
        """Total nanoseconds of all kernels."""
        return sum(event.duration_ns for event in self.events)

    _HEADER = ("kernel", "calls", "total ms", "mean µs", "GB/s", "GFLOP/s", "line")

    def _cells(self) -> Iterator[tuple[str, ...]]:
        for row in self.summaries():
            yield (
                row.name,
                str(row.calls),
                f"{row.total_ns / 1e6:.3f}",
                f"{row.mean_us:.1f}",
                f"{row.gbytes_per_s:.1f}" if row.gbytes_per_s else "–",
                f"{row.gflops:.1f}" if row.gflops else "–",
                _shortened(row.lines),
            )

    def table(self) -> str:
        """Return the summaries as text."""
        rows = [self._HEADER, *self._cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self._HEADER))]
        lines = []
        for row in rows:
            first, *rest = row
            cells = [first.ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self.table()}\n{len(self.events)} dispatches, {self.clock} time"

    def _repr_html_(self) -> str:
        def line(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line(cells, "td") for cells in self._cells())
        caption = f"{len(self.events)} dispatches, {self.clock} time"
        return (
            f"<table><caption>{caption}</caption><thead>{line(self._HEADER, 'th')}</thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def trace(self) -> dict[str, Any]:
        """Return the events in Chrome's trace format (microseconds), which Perfetto reads."""
        devices = list(dict.fromkeys(event.device for event in self.events))
        names = [
            {"name": "thread_name", "ph": "M", "pid": 1, "tid": i, "args": {"name": device}}
            for i, device in enumerate(devices)
        ]
        spans = [
            {
                "name": event.name,
                "cat": "gpu",
                "ph": "X",
                "ts": event.start_ns / 1e3,
                "dur": event.duration_ns / 1e3,
                "pid": 1,
                "tid": devices.index(event.device),
                "args": {
                    "flops": event.flops,
                    "bytes": event.nbytes,
                    "lines": list(event.lines),
                },
            }
            for event in self.events
        ]
        return {"traceEvents": names + spans, "displayTimeUnit": "ns"}

    def save_trace(self, path: str = "trace.json") -> str:
        """Write :meth:`trace` as JSON, for ui.perfetto.dev or chrome://tracing.

        In the notebook, the file appears in the list of files.
        ``browsergpu.download(profile.save_trace())`` downloads it.

        Returns
        -------
        str
            The path of the file.
        """
        text = json.dumps(self.trace())
        with replacing(path) as file:
            file.write(text.encode())
        return path


def profile(device: Any = None, *, timestamps: bool = True) -> Profile:
    """Profile the kernels of a ``with`` (or ``async with``) block.

    Leaving a ``with`` block waits for the GPU. An exception in the block propagates after the
    profile is complete.

    Parameters
    ----------
    device : Device or backend, optional
        Defaults to all open devices.
    timestamps : bool
        Whether to use the GPU's clock if the device has one. False takes wall time.

    Returns
    -------
    Profile
        The profile, filled when the block ends.

    Raises
    ------
    InvalidArgument
        If ``device`` is neither a Device nor an open backend.
    NotInitialized
        If no device is open.

    Notes
    -----
    Profiles cannot be nested.

    Examples
    --------
    >>> with browsergpu.profile() as p:
    ...     backend.gemm(...)
    >>> p
    """
    checks.flag("profile", "timestamps", timestamps)
    if device is None:
        devices = [device for device in open_devices() if not device.is_lost]
    else:
        found = device if isinstance(device, Device) else getattr(device, "device", None)
        if not isinstance(found, Device):
            raise InvalidArgument("profile", "device", device, "a Device or an open backend")
        found.check_open("profile")
        devices = [found]
    if not devices:
        raise NotInitialized("profile", "no device is open; call init() first")
    return Profile(devices, timestamps)


def _shortened(lines: tuple[str, ...]) -> str:
    """Return the first line without its folder, and the number of the others."""
    if not lines:
        return "–"
    first = lines[0].replace("\\", "/").rpartition("/")[2]
    return f"{first} (+{len(lines) - 1})" if len(lines) > 1 else first


def _watch(device: Device, timestamps: bool) -> _Recorded:
    """Start a device's profile and return the list that receives its dispatches."""
    recorded: _Recorded = []

    def note(pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        recorded.append((pipeline, fields, current()))

    with TURN:
        device.recorder.start_profile(timestamps, note)
        tracer_of(device).start_lines()
    return recorded


def _work(device: Device, pipeline: Pipeline, fields: tuple[float, ...]) -> tuple[float, float]:
    kernel = KERNELS.get(pipeline.kernel)
    if kernel is None:
        source = device.generated.sources.get(pipeline)
        if source is None or source.traffic is None:
            return 0.0, 0.0
        bindings = sum(map(str.isalpha, source.signature))
        return work(source.traffic, fields[3 + bindings :])
    values = fields[3 + len(kernel.bindings) :]
    names = (name for name, _ in kernel.params.fields)
    return work_of(kernel.name, dict(zip(names, values, strict=True)), fields[2])
