"""Runs the checks one after the other and says how each went."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TIMEOUT = 5000.0  # seconds; what runs longer hangs, on any machine
_GRACE = 30.0


@dataclass(frozen=True)
class Outcome:
    """How one check went."""

    name: str
    passed: bool
    seconds: float


def run_check(
    name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Outcome:
    """Run one check; what it prints is shown as it comes."""
    print(f"\n== {name}", flush=True)
    begin = time.monotonic()
    program = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL
    )
    try:
        code = program.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f"{name} did not end within {_TIMEOUT:.0f} s", flush=True)
        code = _end(program)
    except KeyboardInterrupt:
        _end(program)
        raise
    return Outcome(name, code == 0, time.monotonic() - begin)


def _end(program: subprocess.Popen[bytes]) -> int:
    """As Ctrl-C does it, so that pytest closes its browser; by force where that is ignored."""
    if sys.platform != "win32":
        program.send_signal(signal.SIGINT)
    try:
        program.wait(_GRACE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    return 1


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line for each check."""
    width = max(len(outcome.name) for outcome in outcomes)
    return "\n".join(
        f"{outcome.name:<{width}}  {'passed' if outcome.passed else 'FAILED'}  "
        f"{outcome.seconds:.1f} s"
        for outcome in outcomes
    )
