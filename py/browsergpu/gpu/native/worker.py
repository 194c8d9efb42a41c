"""The thread that calls the engine in place of the main thread.

Ctrl-C raises KeyboardInterrupt between any two steps of Python in the main thread, and nowhere
else. A call of the engine that is cut in two leaves memory mapped or a pass open, which ends the
process later. So the main thread hands such calls to the worker, and can be interrupted while it
waits.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from browsergpu.core.showing import Shown

T = TypeVar("T")


class _Job:
    """A call that the main thread waits for."""

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

    def __repr__(self) -> str:
        return f"<_Job {self.work!r}>"


class Worker(Shown):
    """A daemon thread for one process, which starts with the first call."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = 0

    def do(self, work: Callable[[], T]) -> T:
        """Call a function.

        The main thread waits until the worker has called it. An interrupt ends the wait: the call
        goes on to its end, and later calls come after it. Other threads call the function
        themselves, as they are never interrupted.
        """
        if threading.current_thread() is not threading.main_thread() or not self._is_running():
            return work()
        job = _Job(work)
        self._jobs.put(job)
        job.done.acquire()
        if job.error is None:
            return job.result  # type: ignore[no-any-return]
        try:
            raise job.error
        finally:
            del job  # its error's traceback has this frame

    def _is_running(self) -> bool:
        """Whether there is the thread; starts it. A forked process has none."""
        if self._process == os.getpid():
            return True
        if self._process:
            return False
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="browsergpu-engine", daemon=True)
                thread.start()
                atexit.register(self._stop)
                self._thread, self._process = thread, os.getpid()
        return True

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # what it holds, too

    def _stop(self) -> None:
        """Python ends: the engine must not be in a call then."""
        if self._thread is not None and self._process == os.getpid():
            self._process = -1
            self._jobs.put(None)
            self._thread.join()


#: The process's.
WORKER = Worker()
