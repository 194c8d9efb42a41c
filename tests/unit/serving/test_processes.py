"""Programs are ended at their timeout, with their children."""

import os
import sys
import threading
from pathlib import Path

import pytest

from devsite.processes import run_program

pytestmark = pytest.mark.fast

SLEEP = "import time; print('begun', flush=True); time.sleep(600)"


def test_output_and_code(tmp_path: Path) -> None:
    script = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    finished = run_program([sys.executable, "-c", script], folder=tmp_path, timeout=600)
    assert (finished.code, finished.succeeded, finished.timed_out) == (3, False, False)
    assert sorted(finished.output.split()) == ["one", "two"]


def test_last_lines(tmp_path: Path) -> None:
    script = "for n in range(50): print(n)"
    finished = run_program([sys.executable, "-c", script], folder=tmp_path, timeout=600)
    assert finished.last_lines(3) == "47\n48\n49"


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    finished = run_program([sys.executable, "-c", SLEEP], folder=tmp_path, timeout=1)
    assert finished.timed_out
    assert finished.code is None
    assert not finished.succeeded


def test_a_program_is_ended_when_called_off(tmp_path: Path) -> None:
    cancelled = threading.Event()
    finished = run_program(
        [sys.executable, "-c", SLEEP],
        folder=tmp_path,
        timeout=600,
        cancelled=cancelled,
        while_waiting=cancelled.set,
    )
    assert finished.code is None
    assert not finished.timed_out


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_children_are_ended_too(tmp_path: Path) -> None:
    # The child holds the write end of a pipe. The reader sees its end when the child is gone.
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    child = "import sys, time; stream = open(sys.argv[1], 'w'); time.sleep(600)"
    parent = (
        "import subprocess, sys, time; "
        "subprocess.Popen([sys.executable, '-c', sys.argv[2], sys.argv[1]]); time.sleep(600)"
    )
    opened, ended = threading.Event(), threading.Event()

    def read() -> None:
        with fifo.open("rb") as stream:
            opened.set()
            stream.read()
        ended.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    command = [sys.executable, "-c", parent, str(fifo), child]
    cancelled = threading.Event()

    def call_off_once_open() -> None:
        if opened.is_set():
            cancelled.set()

    run_program(
        command,
        folder=tmp_path,
        timeout=600,
        cancelled=cancelled,
        while_waiting=call_off_once_open,
    )
    assert opened.is_set()
    assert ended.wait(30)
