"""Threads that call the engine in place of the main thread.

Ctrl-C raises KeyboardInterrupt between any two steps of Python in the main thread, and nowhere
else. A call of the engine that is cut in two leaves memory mapped or a pass open, which ends the
process later. So the main thread hands such calls to the worker, and can be interrupted while it
waits.

Threads are started by ``_thread``: ``threading.Thread.start()`` waits for the thread in Python, and
an interrupt there becomes "RuntimeError: release unlocked lock".
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from browsergpu.core.showing import Shown

T = TypeVar("T")


class _Job:
    """A call that the main thread waits for. ``done`` is held until it has ended."""

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
        """What the call returned, once it has. An interrupt ends the wait, and not the call."""
        with self.done:
            pass
        if self.error is None:
            return self.result
        try:
            raise self.error
        finally:
            del self  # its error's traceback has this frame

    def __repr__(self) -> str:
        return f"<_Job {self.work!r}>"


class Worker(Shown):
    """A daemon thread for one process, which starts with the first call."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._process = 0  # whose thread runs
        self._ended = threading.Lock()  # held by the thread

    def do(self, work: Callable[[], T]) -> T:
        """Call a function.

        The main thread waits until the worker has called it. An interrupt ends the wait: the call
        goes on to its end, and later calls come after it. Other threads call the function
        themselves, as they are never interrupted.
        """
        if threading.get_ident() != threading.main_thread().ident or not self._is_running():
            return work()
        job = _Job(work)
        self._jobs.put(job)
        return job.wait()  # type: ignore[no-any-return]

    def _is_running(self) -> bool:
        """Whether there is the thread; starts it. A forked process has none."""
        if self._process == os.getpid():
            return True
        if self._process:
            return False
        atexit.register(self._stop)
        _thread.start_new_thread(self._run, ())
        return True

    def _run(self) -> None:
        with self._starting:  # an interrupt, and the main thread starts another
            if self._process:
                return
            self._ended.acquire()
            self._process = os.getpid()
        threading.current_thread().name = "browsergpu-engine"
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # what it holds, too
        self._ended.release()

    def _stop(self) -> None:
        """Python ends: the engine must not be in a call then."""
        if self._process == os.getpid():
            self._process = -1
            self._jobs.put(None)
            with self._ended:
                pass


#: The process's.
WORKER = Worker()

#: Those that run in threads of their own.
_beside: set[_Job] = set()


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Call a function in a thread of its own. What is given waits for what it returns."""
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
    """Python ends: no thread must be in a call of the engine then."""
    for job in tuple(_beside):
        with job.done:
            pass
