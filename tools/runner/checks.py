"""Runs the checks in order and reports their results."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Seconds without output after which a check counts as hanging. Every finished test prints a line,
#: even on a slow machine.
_SILENCE = 2400.0
_GRACE = 30.0
_LOOK = 1.0


@dataclass(frozen=True)
class Outcome:
    """The result of one check."""

    name: str
    passed: bool
    seconds: float
    not_run: str = ""  # reason, if the check did not run

    @property
    def line(self) -> str:
        """The outcome as a line of the summary."""
        if self.not_run:
            return f"NOT RUN  {self.not_run}"
        return f"{'passed' if self.passed else 'FAILED'}  {self.seconds:.1f} s"


def run_check(
    name: str,
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    silence: float = _SILENCE,
) -> Outcome:
    """Run one check and pass its output on.

    The check is terminated after ``silence`` seconds without output.
    """
    print(f"\n== {name}", flush=True)
    begin = time.monotonic()
    colours = {"FORCE_COLOR": "1"} if sys.stdout.isatty() else {}
    program = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **colours, **environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    heard = [begin]
    reader = threading.Thread(target=_pass_on, args=(program, heard), daemon=True)
    reader.start()
    try:
        code = _wait(program, heard, silence)
        if code is None:
            print(f"{name} printed nothing for {silence:.0f} s and is stopped", flush=True)
            code = _end(program)
    except KeyboardInterrupt:
        _end(program)
        raise
    finally:
        reader.join(_GRACE)  # a process left running may keep the pipe open
    return Outcome(name, code == 0, time.monotonic() - begin)


def _pass_on(program: subprocess.Popen[bytes], heard: list[float]) -> None:
    assert program.stdout is not None
    while data := os.read(program.stdout.fileno(), 1 << 16):
        heard[0] = time.monotonic()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _wait(program: subprocess.Popen[bytes], heard: list[float], silence: float) -> int | None:
    """Return the program's exit status, or None after too long a silence."""
    while True:
        try:
            return program.wait(_LOOK)
        except subprocess.TimeoutExpired:
            if time.monotonic() - heard[0] > silence:
                return None


def _end(program: subprocess.Popen[bytes]) -> int:
    """Interrupt the program like Ctrl-C, so that pytest closes its browser, then kill it."""
    if sys.platform != "win32":
        program.send_signal(signal.SIGINT)
    try:
        program.wait(_GRACE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    return 1


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return one line per check."""
    width = max(len(outcome.name) for outcome in outcomes)
    return "\n".join(f"{outcome.name:<{width}}  {outcome.line}" for outcome in outcomes)
