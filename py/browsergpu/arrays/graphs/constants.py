"""Constant commands of a captured graph, which run again only if their inputs have changed.

A command is constant if it computes the same values in each replay: it reads only arrays that the
graph does not change, and values of other constant commands. Examples are the layouts and casts of
weights, and the scale of a batch norm at evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from browsergpu.engine.core.errors import OutOfMemory
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.port import Captured
from browsergpu.engine.tensors.device_array import Storage

_OP = "jit"
#: The kept values of a graph have at most this many times the bytes of its inputs ...
_MOST_TIMES = 4
#: ... or this many bytes.
_MOST_BYTES = 64 * 2**20


class Life(NamedTuple):
    """A buffer between its allocation and its release, or a buffer from before the block."""

    identity: int
    number: int  # of the allocation, -1 for a buffer from before the block


class Found(NamedTuple):
    """The constant commands of a capture.

    Attributes
    ----------
    commands
        Their numbers.
    lives
        The lives of their results that get memory of their own: other commands read them, or
        their buffer has another use after the block.
    renamed
        The lives that replace buffers, for each command that uses one of them.
    """

    commands: set[int]
    lives: list[Life]
    renamed: dict[int, dict[int, Life]]


def find(
    captured: Captured,
    own: Mapping[int, int],
    inputs: Collection[int],
    lasting: Collection[int],
    lent: Collection[int],
    most: int,
) -> Found:
    """Find the constant commands of a capture.

    Parameters
    ----------
    captured
        The capture.
    own
        The capacities of the buffers that were allocated in the block.
    inputs
        Buffers from before the block that change only between replays.
    lasting
        Own buffers that are in use after the block.
    lent
        Own buffers that the graph does not keep.
    most
        The bytes of results to keep. Constant commands with larger results are left out.
    """
    uses = _uses(captured)
    last = {life.identity: life for command in uses for life in command}
    readers: dict[Life, list[int]] = {}
    written: set[Life] = set()
    for number, (command, lives) in enumerate(zip(captured.commands, uses, strict=True)):
        for life, access in zip(lives, command.access, strict=True):
            readers.setdefault(life, []).append(number)
            if access == "w":
                written.add(life)
    changing = {life for life in readers if not (life in written or life.identity in inputs)}
    changing |= {life for life in readers if life.number < 0 and life.identity not in inputs}
    fixed = {*lasting, *lent}
    changing |= {last[one] for one in fixed if one in last}
    rest: set[int] = set()  # commands that are not constant

    def spread(commands: Iterable[int], lives: Iterable[Life]) -> None:
        waiting = [*commands, *(at for life in lives for at in readers[life])]
        changing.update(lives)
        while waiting:
            number = waiting.pop()
            if number in rest:
                continue
            rest.add(number)
            command = captured.commands[number]
            for life, access in zip(uses[number], command.access, strict=True):
                if access == "w" and life not in changing:
                    changing.add(life)
                    waiting += readers[life]

    spread(captured.open, [*changing])
    while True:
        kept = [
            life
            for life, commands in readers.items()
            if life.number >= 0
            and life not in changing
            and (life.identity in fixed or any(number in rest for number in commands))
        ]
        too_many, total = [], 0
        for life in kept:
            total += own[life.identity]
            if total > most:
                too_many.append(life)
                total -= own[life.identity]
        if not too_many:
            break
        spread((), too_many)
    chosen = set(kept)
    renamed = {
        number: own_lives
        for number, lives in enumerate(uses)
        if (own_lives := {life.identity: life for life in lives if life in chosen})
    }
    return Found({*range(len(uses))} - rest, kept, renamed)


def _uses(captured: Captured) -> list[tuple[Life, ...]]:
    """Return the lives that each command uses."""
    current: dict[int, Life] = {}
    allocated = enumerate(captured.allocated)
    following = next(allocated, None)
    found = []
    for number, command in enumerate(captured.commands):
        while following is not None and following[1][0] <= number:
            at, (_, identity) = following
            current[identity] = Life(identity, at)
            following = next(allocated, None)
        found.append(tuple([current.get(one) or Life(one, -1) for one in command.ids]))
    return found


class Constants(Shown):
    """The constant commands of a graph, their inputs and their results."""

    def __init__(
        self, device: Device, captured: Captured, inputs: Sequence[Storage], kept: list[Storage]
    ) -> None:
        self.captured = captured
        self.labels = dict(Counter(pipeline.label for pipeline, _ in captured.dispatches))
        self._device = device
        self._inputs = inputs
        self._kept = kept
        self._writes = -1
        self._versions: list[int] | None = None  # before the first run

    def _facts(self) -> str:
        return f"of {len(self.captured.commands)} commands"

    @property
    def nbytes(self) -> int:
        """The bytes of the results."""
        return sum(one.buffer.capacity for one in self._kept)

    def refresh(self) -> None:
        """Run the commands if an input has changed since they last ran."""
        writes = self._device.memory.writes
        if writes == self._writes:
            return
        versions = [one.version for one in self._inputs]
        if versions != self._versions:
            self._device.recorder.replay(self.captured, (), {})
            self._versions = versions
        self._writes = writes


def separated(
    device: Device,
    captured: Captured,
    own: Mapping[int, int],
    inputs: Mapping[int, Storage | None],
    lasting: Collection[int],
    lent: Collection[int],
) -> Constants | None:
    """Move the constant commands out of a capture. Returns None if there are none.

    ``inputs`` has the memory of the arrays among them, which has a version, else None.
    """
    given = sum(one.buffer.capacity for one in inputs.values() if one is not None)
    most = max(_MOST_BYTES, _MOST_TIMES * given)
    found = find(captured, own, inputs, lasting, lent, most)
    if not found.commands:
        return None
    kept: dict[Life, Storage] = {}
    try:
        for life in found.lives:
            buffer = device.memory.get_buffer(_OP, own[life.identity], "values computed once")
            kept[life] = Storage(device, buffer)
    except OutOfMemory:
        return None
    renamed = {
        number: {identity: kept[life].buffer.id for identity, life in lives.items()}
        for number, lives in found.renamed.items()
    }
    constant = device.recorder.divide(captured, found.commands, renamed)
    read = [one for one in inputs.values() if one is not None and one.buffer.id in constant.ids]
    return Constants(device, constant, read, [*kept.values()])
