"""Encoding and submission of one device's recorded commands.

Recording appends commands to a queue. Functions that call the engine run under a lock, and on
:data:`WORKER` if the main thread calls them.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import partial
from struct import pack
from typing import Any, TypeVar
from weakref import WeakSet

from browsergpu.engine.core.errors import BackendError, DeviceError
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import new_lock
from browsergpu.engine.gpu.native.batch import Batch
from browsergpu.engine.gpu.native.bindings import Bindings, Key
from browsergpu.engine.gpu.native.clock import Clock
from browsergpu.engine.gpu.native.compiling import Compiler, Step
from browsergpu.engine.gpu.native.complaints import Complaints
from browsergpu.engine.gpu.native.engine import Engine
from browsergpu.engine.gpu.native.fences import fences_of
from browsergpu.engine.gpu.native.transfers import Read, Transfers
from browsergpu.engine.gpu.native.worker import WORKER

T = TypeVar("T")

_DISPATCHES_PER_SUBMIT = 128
#: Dispatches of the first submit for an idle GPU, so that it computes while others are encoded.
_FIRST_DISPATCHES = 16

#: A dispatch: step, workgroups, buffers, parameters and a pointer to them. A copy: source, its
#: offset, target, its offset, bytes. A clear: buffer, offset, bytes.
Command = tuple[Any, ...]


def with_buffers(command: Command, buffers: Mapping[int, int]) -> Command:
    """Return a command that uses other buffers."""
    if isinstance(command[0], Step):
        step, grid, key, *rest = command
        count = len(step.layout.numbers)
        ids = tuple([buffers.get(one, one) for one in key[:count]])
        return (step, grid, (*ids, *key[count:]), *rest)
    source, at, *rest = command
    if len(rest) > 1:
        rest[0] = buffers.get(rest[0], rest[0])
    return (buffers.get(source, source), at, *rest)


#: The open devices of this process.
_open: WeakSet[Sender] = WeakSet()


@atexit.register
def _finish_all() -> None:
    """Wait at exit until the GPU is idle. A driver unloaded while it works ends the process."""
    for sender in tuple(_open):
        sender.finish_at_exit()


class Sender(Shown):
    """The engine's side of one device."""

    def __init__(self, engine: Engine, device: Any, *, one_by_one: bool) -> None:
        usage = engine.api.BufferUsage
        self.device, self._queue, self._ffi = device, device.queue, engine.ffi
        self._usage = usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST
        self._per_submit = 1 if one_by_one else _DISPATCHES_PER_SUBMIT
        self._process = os.getpid()
        self.lock = new_lock()
        self.buffers: dict[int, Any] = {}
        self.steps: dict[int, Step] = {}  # of live pipelines
        self.complaints = Complaints()
        self.bindings = Bindings(device, engine.api.ShaderStage.COMPUTE, self.buffers)
        self.compiler = Compiler(device, self.bindings, is_dawn=engine.is_dawn)
        self.clock = Clock(device, usage)
        self._fences = fences_of(engine, device)
        self.transfers = Transfers(engine, device, self._fences)
        self.batch = Batch(engine, device, self.bindings, self.clock)
        self._commands: deque[Command] = deque()
        self._doomed: deque[int] = deque()  # ids of buffers to destroy
        self._unheld: deque[int] = deque()  # numbers of pipelines to drop
        #: Adds the number of a pipeline to drop. It is a C function, so destructors can call it.
        self.let_go = self._unheld.append
        self.wanted: list[Step] = []  # pipelines whose errors the next wait raises
        self.sent = 0  # commands since the last wait
        self.counters = dict.fromkeys(
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
        self.refused: set[int] = set()
        self.is_short_of_memory = False
        self.loss: list[int] = [0]
        _open.add(self)

    # -- calls ------------------------------------------------------------------------------------

    def call(self, work: Callable[[], T]) -> T:
        """Call a function that uses the engine."""
        return WORKER.do(partial(self._locked, work))

    def _locked(self, work: Callable[[], T]) -> T:
        with self.lock:
            return work()

    def attempt(self, op: str, work: Callable[[], T]) -> T | None:
        """Encode the recorded commands, then :meth:`call` a function.

        The next wait raises an exception of the engine, in the name of ``op``. The result is None
        in that case.
        """
        return self.call(partial(self._attempted, op, work))

    def _attempted(self, op: str, work: Callable[[], T]) -> T | None:
        try:
            self._encode_all()
            return work()
        except BackendError:
            raise
        except Exception as error:  # each engine has its own exception classes
            self.note(op, error)
            self.check(op)
            return None

    def check(self, op: str) -> None:
        """Raise an error if the device is closed, lost, or from another process."""
        if self.complaints.closed or self.complaints.lost:
            self.complaints.raise_end(op)
        if os.getpid() != self._process:
            raise DeviceError(
                op,
                "a forked process cannot use its parent's GPU device. Start the process with the "
                "method 'spawn', or open a device in it.",
            )

    def note(self, op: str, error: Exception) -> None:
        """Keep an exception of the engine for the next wait."""
        if not self.tells_of_loss(error):
            self.complaints.note_failure(op, error)
            self.is_short_of_memory |= isinstance(error, MemoryError)

    def tells_of_loss(self, error: Exception) -> bool:
        """Return whether an engine's error means that the device is lost, and note the loss."""
        if "is lost" not in str(error):
            return False
        self.complaints.lost = str(error).splitlines()[0]
        self.loss[0] = 1
        return True

    # -- commands ---------------------------------------------------------------------------------

    def add(self, command: Command) -> None:
        """Record a command. Raise an error for the first of a batch if the device is lost."""
        commands = self._commands
        if not commands:
            self.check("device")
        commands.append(command)
        if len(commands) >= self._per_submit:
            self.encode()

    def add_all(
        self,
        commands: Sequence[Command],
        others: Mapping[int, tuple[int, Any]],
        swapped: Collection[int],
        buffers: Mapping[int, int],
    ) -> None:
        """Record commands again.

        Parameters
        ----------
        commands
            The commands.
        others
            For numbers of dispatches, the distance in bytes from the end of the parameters, and the
            words to put there.
        swapped
            Numbers of the commands in which ``buffers`` occur.
        buffers
            Ids of buffers, and the ids to use instead.
        """
        self.check("replay")
        if others or swapped:
            commands = [*commands]
            for number, change in others.items():
                commands[number] = self._changed(commands[number], *change)
            for number in swapped:
                commands[number] = with_buffers(commands[number], buffers)
        self._commands.extend(commands)
        if len(self._commands) >= self._per_submit:
            self.encode()

    def _changed(self, command: Command, back: int, words: Sequence[int]) -> Command:
        step, grid, key, data, _ = command
        first = len(data) - back
        new = pack(f"<{len(words)}I", *words)
        data = data[:first] + new + data[first + len(new) :]
        return step, grid, key, data, self._ffi.from_buffer(data)

    def encode(self) -> None:
        """Encode the recorded commands, and destroy the freed buffers."""
        self.call(self._encode_all)

    def submit(self) -> None:
        """Submit the recorded commands to the GPU."""
        self.call(self._submit_all)

    def _submit_all(self) -> None:
        self._encode_all()
        self.send_batch()

    def _encode_all(self) -> None:
        self.check("device")
        freed = len(self._doomed)  # their commands were recorded before they were freed
        commands = self._commands
        while commands:
            command = commands.popleft()
            is_dispatch = isinstance(command[0], Step)
            try:
                if is_dispatch:
                    self._dispatch(*command)
                else:
                    self._transfer(*command)
            except BackendError:
                raise
            except Exception as error:  # each engine has its own exception classes
                self.note(command[0].label if is_dispatch else "copy", error)
                self.check("device")
        self._destroy(freed)

    def _dispatch(
        self, step: Step, grid: tuple[Any, ...], key: Key, data: bytes, pointer: Any
    ) -> None:
        batch, profile = self.batch, self.clock.profile
        if (step.handle is None or step.future is not None) and not self.is_usable(step):
            if profile is not None:
                profile.dispatches += 1
            return
        group = step.layout.groups.get(key)
        if group is None:
            group = self.bindings.make(step.layout, key)
        batch.dispatch(step, group, grid, data, pointer)
        self.counters["dispatches"] += 1
        if profile is not None:
            profile.dispatches += 1
            if not profile.timestamps and self.send_batch():
                profile.time_by_wall(self.wait)
        if batch.size >= min(self._per_submit, max(_FIRST_DISPATCHES, self.sent)):
            self.send_batch()  # as many as the GPU has got since the last wait, up to the limit

    def _transfer(self, buffer: int, at: int, *rest: int) -> None:
        self.counters["copies"] += 1
        encoder, first = self.batch.encoder(), self.buffers[buffer]
        if len(rest) == 1:
            encoder.clear_buffer(first, at, *rest)
        else:
            target, target_at, nbytes = rest
            encoder.copy_buffer_to_buffer(first, at, self.buffers[target], target_at, nbytes)

    def send_batch(self) -> bool:
        """Submit the open batch. Return False if it was dropped."""
        batch = self.batch
        if not batch.size:
            return True
        self.sent += batch.size
        sent = True
        try:
            self._queue.submit([batch.finish()])
            self.counters["submits"] += 1
        except Exception as error:  # each engine has its own exception classes
            sent = False
            if not self.tells_of_loss(error):
                self.note(batch.culprit() or "submit", error)
        batch.clear()
        if self.clock.profile is not None:
            self.clock.profile.end_batch(sent=sent)
        return sent

    # -- pipelines --------------------------------------------------------------------------------

    def is_usable(self, step: Step) -> bool:
        """Wait for a step to be compiled, note its error, and return whether it has none."""
        if step.future is not None:
            self.wait_for(step)
            step.future = None
        if step.failure is not None:
            self.complaints.note(step.failure)
            self.refused.add(step.number)
        return step.failure is None

    def wait_for(self, step: Step) -> None:
        """Wait for a step to be compiled."""
        try:
            if step.future is not None:
                step.future.result()
        except CancelledError:  # cancelled by close()
            self.complaints.raise_end(step.label)

    # -- buffers ----------------------------------------------------------------------------------

    def make(self, identity: int, nbytes: int, label: str) -> bool:
        """Create a buffer. Return False if there is no room."""
        return self.call(partial(self._make, identity, nbytes, label))

    def _make(self, identity: int, nbytes: int, label: str) -> bool:
        self.check("alloc")
        try:
            self.buffers[identity] = self.device.create_buffer(
                size=nbytes, usage=self._usage, label=label
            )
        except Exception as error:  # each engine has its own exception classes
            if self.tells_of_loss(error):
                self.check("alloc")
            return False
        return True

    def doom(self, identity: int) -> None:
        """Schedule a buffer for destruction after the recorded commands that use it."""
        self._doomed.append(identity)

    def _destroy(self, count: int) -> None:
        """Destroy the first ``count`` scheduled buffers, and drop unused pipelines."""
        while self._unheld:
            number = self._unheld.popleft()
            self.refused.discard(number)
            del self.steps[number]  # recorded commands keep it alive until submission
        if not count:
            return
        self.send_batch()  # wgpu-native ends the process if a batch uses a destroyed buffer
        for _ in range(count):
            identity = self._doomed.popleft()
            self.bindings.forget_buffer(identity)
            buffer = self.buffers.pop(identity, None)
            if buffer is not None:
                buffer.destroy()

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        """Upload data after the recorded commands."""
        self.send_batch()
        self.transfers.write(self.buffers[buffer], at, source, nbytes)
        self.counters["uploads"] += 1

    def begin(self, buffer: int, at: int, nbytes: int) -> Read:
        """Submit commands that copy a range to a staging buffer."""
        # The copy joins the open batch, because a submit costs as much as the rest of a small read.
        read = self.transfers.begin(self.batch.encoder(), self.buffers[buffer], at, nbytes)
        self.send_wanted()
        return read

    # -- waiting ----------------------------------------------------------------------------------

    def send_wanted(self) -> None:
        """Note errors of newly created pipelines, then submit the batch."""
        wanted, self.wanted = self.wanted, []
        for step in wanted:
            if step.future is not None:
                self.is_usable(step)
        self.send_batch()

    def finish(self) -> None:
        """Submit the recorded commands, and wait until the GPU is idle."""
        self.send_wanted()
        self.wait()

    def wait(self) -> None:
        """Wait until the GPU has finished the submitted commands."""
        try:
            self._fences.finish()
        except Exception as error:  # each engine has its own exception classes
            self.note("synchronize", error)
        self.sent = 0

    def finish_at_exit(self) -> None:
        """Wait until the GPU has finished the submitted commands, unless the device is gone."""
        if not (self.complaints.closed or self.loss[0] or os.getpid() != self._process):
            self.call(self.wait)

    def close(self) -> None:
        """Destroy the device and everything on it."""
        self.call(self._close)

    def _close(self) -> None:
        if self.complaints.closed:
            return
        if not self.loss[0] and os.getpid() == self._process:
            self._submit_all()
        self.complaints.closed = True
        self._commands.clear()
        self.compiler.close()
        self.batch.clear()
        self.buffers.clear()
        self.bindings.forget()
        self.transfers.trim()
        self.device.destroy()
