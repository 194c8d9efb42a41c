"""Threads that call the engine instead of the main thread.

Ctrl-C raises KeyboardInterrupt between any two bytecodes of the main thread, and in no other
thread. An interrupted call of the engine leaves memory mapped or a pass open, which ends the
process later. So the main thread passes such calls to the worker, and only its wait is interrupted.

Threads are started by ``_thread``. ``threading.Thread.start()`` waits for the thread in Python, and
an interrupt of that wait becomes "RuntimeError: release unlocked lock".
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from browsergpu.engine.core.showing import Shown

T = TypeVar("T")


class _Job:
    """A call in another thread. The lock ``done`` is held until the call ends."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.done.release()

    def wait(self) -> Any:
        """Wait for the call and return its result. An interrupt ends the wait but not the call."""
        with self.done:
            pass
        if self.error is None:
            return self.result
        try:
            raise self.error
        finally:
            del self  # the error's traceback refers to this frame

    def __repr__(self) -> str:
        return f"<_Job {self.work!r}>"


class Worker(Shown):
    """A daemon thread for one process, started by the first call."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._process = 0  # id of the process with the thread
        self._ended = threading.Lock()  # held while the thread runs

    def do(self, work: Callable[[], T]) -> T:
        """Call a function and return its result.

        In the main thread, the worker calls the function and the main thread waits. An interrupt
        ends the wait; the call completes, and later calls follow it. Other threads call the
        function directly, since they are never interrupted.
        """
        if threading.get_ident() != threading.main_thread().ident or not self._is_running():
            return work()
        job = _Job(work)
        self._jobs.put(job)
        return job.wait()  # type: ignore[no-any-return]

    def _is_running(self) -> bool:
        """Return whether the thread runs, and start it if needed. A forked process has none."""
        if self._process == os.getpid():
            return True
        if self._process:
            return False
        atexit.register(self._stop)
        _thread.start_new_thread(self._run, ())
        return True

    def _run(self) -> None:
        with self._starting:  # after an interrupt, the main thread starts another
            if self._process:
                return
            self._ended.acquire()
            self._process = os.getpid()
        threading.current_thread().name = "browsergpu-engine"
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # free its references
        self._ended.release()

    def _stop(self) -> None:
        """Stop the thread at exit, when no call of the engine may be in progress."""
        if self._process == os.getpid():
            self._process = -1
            self._jobs.put(None)
            with self._ended:
                pass


#: The worker of this process.
WORKER = Worker()

#: Jobs in separate threads.
_beside: set[_Job] = set()


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Call a function in a new thread. Return a function that waits for the result."""
    job = _Job(work)
    _thread.start_new_thread(_run, (job,))
    return job.wait


def _run(job: _Job) -> None:
    _beside.add(job)
    try:
        job.run()
    finally:
        _beside.discard(job)


@atexit.register
def _end() -> None:
    """Wait for all jobs at exit, when no call of the engine may be in progress."""
    for job in tuple(_beside):
        with job.done:
            pass
