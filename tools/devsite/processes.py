"""Runs another program with a timeout, and ends it with its children on cancellation."""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_POLL = 0.1


@dataclass(frozen=True)
class Finished:
    """The result of a program. ``code`` is None if it was stopped."""

    code: int | None
    output: str
    timed_out: bool

    @property
    def succeeded(self) -> bool:
        return self.code == 0

    def last_lines(self, count: int = 4) -> str:
        """Return the last lines of the output, which usually have the reason."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return "\n".join(lines[-count:])


def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    timeout: float,
    cancelled: threading.Event | None = None,
    while_waiting: Callable[[], None] = lambda: None,
    environment: dict[str, str] | None = None,
) -> Finished:
    """Run ``command`` in ``folder`` without input, and collect its output."""
    with tempfile.TemporaryFile() as output:
        program = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout
        timed_out = False
        try:
            while program.poll() is None:
                timed_out = time.monotonic() > deadline
                if timed_out or (cancelled is not None and cancelled.is_set()):
                    break
                while_waiting()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(_POLL)
        finally:
            code = program.poll()
            if code is None:
                _kill(program)
        output.seek(0)
        return Finished(code, output.read().decode(errors="replace"), timed_out)


def _kill(program: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        # The program leads its own session, so this ends its children too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    else:
        program.kill()
    program.wait()
