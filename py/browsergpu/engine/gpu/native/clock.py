"""GPU timing: of all commands between two calls, or of each dispatch."""

from __future__ import annotations

import time
from typing import Any

from browsergpu.engine.core.showing import Shown

_MOST_QUERIES = 4096  # per set; each dispatch uses two

Span = tuple[float, float]


class Clock(Shown):
    """The measurements in progress on one device. The batch gets its timestamp writes here."""

    def __init__(self, device: Any, usage: Any) -> None:
        self._device = device
        self._usage = usage
        self._timing: Any = None
        self._begun = False
        self.profile: Profile | None = None

    def _queries(self, count: int) -> Any:
        return self._device.create_query_set(type="timestamp", count=count, label="times")

    # -- everything between two calls ------------------------------------------------------------

    def start(self) -> None:
        """Start timing all passes."""
        self._timing, self._begun = self._queries(2), False

    def pass_writes(self) -> dict[str, Any] | None:
        """Return the timestamp writes of the next pass, or None if passes are not timed."""
        if self._timing is None:
            return None
        writes = {"query_set": self._timing, "end_of_pass_write_index": 1}
        if not self._begun:
            writes["beginning_of_pass_write_index"] = 0
        self._begun = True
        return writes

    def stop(self) -> Any:
        """Stop timing. Return the queries, or None if no pass began."""
        queries, self._timing = self._timing, None
        return queries if self._begun else None

    # -- each dispatch ---------------------------------------------------------------------------

    def start_profile(self, timestamps: bool) -> None:
        """Start timing each dispatch, by the GPU's clock or by wall time."""
        self.profile = Profile(timestamps)

    def dispatch_writes(self, profile: Profile) -> dict[str, Any]:
        """Return the timestamp writes for the pass of the next dispatch."""
        if not profile.sets or profile.sets[-1][1] == _MOST_QUERIES:
            profile.sets.append([self._queries(_MOST_QUERIES), 0, []])
        entry = profile.sets[-1]
        at = entry[1]
        entry[1] += 2
        entry[2].append(profile.dispatches)
        return {
            "query_set": entry[0],
            "beginning_of_pass_write_index": at,
            "end_of_pass_write_index": at + 1,
        }

    def read(self, encoder: Any, submit: Any, queries: Any, used: int) -> list[Span]:
        """Return the spans in a set of queries. ``submit`` submits the commands of ``encoder``."""
        resolved = self.resolved(encoder, queries, used)
        submit()
        return self.times(resolved, used)

    def resolved(self, encoder: Any, queries: Any, used: int) -> Any:
        """Return a buffer into which the GPU will write the times of a set of queries."""
        resolved = self._device.create_buffer(
            size=8 * used, usage=self._usage.QUERY_RESOLVE | self._usage.COPY_SRC, label="times"
        )
        encoder.resolve_query_set(queries, 0, used, resolved, 0)
        return resolved

    def times(self, resolved: Any, used: int) -> list[Span]:
        """Wait for the spans in such a buffer, destroy it, and return the spans."""
        times = self._device.queue.read_buffer(resolved).cast("Q").tolist()
        resolved.destroy()
        return [(times[i], times[i + 1]) for i in range(0, used, 2)]


class Profile(Shown):
    """The times of each dispatch."""

    def __init__(self, timestamps: bool) -> None:
        self.timestamps = timestamps
        self.dispatches = 0
        self.sets: list[list[Any]] = []  # queries, number of used ones, dispatches
        self._sent = 0
        self._dropped: set[int] = set()
        self.spans: dict[int, Span] = {}

    def end_batch(self, *, sent: bool) -> None:
        """Note whether the dispatches since the last batch were submitted or dropped."""
        if not sent:
            self._dropped.update(range(self._sent, self.dispatches))
        self._sent = self.dispatches

    def told(self) -> list[Span | None]:
        """Return the spans of all dispatches, None for each that did not run."""
        return [
            None if number in self._dropped else self.spans.get(number)
            for number in range(self.dispatches)
        ]

    def time_by_wall(self, done: Any) -> None:
        """Measure how long ``done`` waits for the last dispatch, which was just submitted alone."""
        begun = time.perf_counter_ns()
        done()
        self.spans[self.dispatches - 1] = (begun, time.perf_counter_ns())
