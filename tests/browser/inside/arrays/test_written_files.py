"""Files are written completely or not at all, despite errors and concurrent writers."""

from __future__ import annotations

import io
import json
import os
import random
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: For each function that writes a file: the suffix, a function that writes file number ``n``, and
#: one that reads the number.
Case = tuple[str, Callable[[Any, int], None], Callable[[Path], int]]

SIZE = 30_000  # elements: more than a file's write buffer


@pytest.fixture(params=["save", "savez", "savez_compressed", "safetensors", "checkpoint", "trace"])
def case(request: Any, bg: Any) -> Case:
    def full(n: int) -> Any:
        return bg.arange(SIZE, dtype="float32") + n

    def read_numpy(path: Path) -> int:
        found = np.load(path)
        data = found if isinstance(found, np.ndarray) else found["arr_0"]
        np.testing.assert_array_equal(data, np.arange(SIZE) + data[0])
        return int(data[0])

    def read_safetensors(path: Path) -> int:
        data = bg.io.Safetensors(path).numpy("x")
        np.testing.assert_array_equal(data, np.arange(SIZE) + data[0])
        return int(data[0])

    profiles = []
    for n in range(4):
        with bg.profile() as profile:
            for _ in range(n):
                bg.eval(bg.ones(3) + n)
        profiles.append(profile)

    def linear() -> Any:
        model = bg.nn.Linear(100, 100)
        bg.eval(*model.parameters())
        return model

    cases: dict[str, Case] = {
        "save": (".npy", lambda file, n: bg.save(file, full(n)), read_numpy),
        "savez": (".npz", lambda file, n: bg.savez(file, full(n), full(n)), read_numpy),
        "savez_compressed": (
            ".npz",
            lambda file, n: bg.savez_compressed(file, full(n), full(n)),
            read_numpy,
        ),
        "safetensors": (
            ".safetensors",
            lambda file, n: bg.io.save_safetensors(file, {"x": full(n), "y": full(n)}),
            read_safetensors,
        ),
        "checkpoint": (
            ".safetensors",
            lambda file, n: bg.io.save_checkpoint(file, linear(), step=n),
            lambda path: int(bg.io.load_checkpoint(path, linear())),
        ),
        "trace": (
            ".json",
            lambda file, n: profiles[n].save_trace(file),
            lambda path: sum(
                event["ph"] == "X" for event in json.loads(path.read_text())["traceEvents"]
            ),
        ),
    }
    return cases[request.param]


class _Stopped(KeyboardInterrupt):
    """Interrupts the writing."""


#: The modules that take part in writing, of browsergpu and of the standard library.
_WRITERS = ("files.py", "safetensors.py", "checkpoints.py", "profiling.py", "_format_impl.py")


@contextmanager
def _interrupted(at: int) -> Iterator[list[int]]:
    """Raise in the given line, counting executed lines of modules that write.

    Yields a list with the number of lines that have run.
    """
    lines = [0]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        name = os.path.basename(frame.f_code.co_filename)
        if not name.endswith(_WRITERS):
            return None
        if event == "line":
            lines[0] += 1
            if lines[0] == at:
                raise _Stopped
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupt_at_any_moment_leaves_a_complete_file(case: Case, tmp_path: Path) -> None:
    if sys.platform == "emscripten":
        pytest.skip("a page's Python does not trace what run_sync waits for")
    suffix, write, read = case
    path = tmp_path / f"kept{suffix}"
    write(path, 1)
    with _interrupted(0) as lines:
        write(path, 1)
    drawn = random.Random(5)
    moments = {*range(lines[0] - 15, lines[0] + 1), *drawn.sample(range(1, lines[0]), 15)}
    ended = []
    for moment in sorted(moments):
        write(path, 1)
        try:
            with _interrupted(moment):
                write(path, 2)
        except _Stopped:
            ended.append(moment)
        assert read(path) in (1, 2)
        assert _files(tmp_path) == [path.name]
    assert len(ended) > 15


def test_a_full_disk_leaves_the_old_file(case: Case, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "RLIMIT_FSIZE") or sys.platform == "emscripten":
        pytest.skip("this system cannot limit a file's size")
    suffix, write, read = case
    path = tmp_path / f"kept{suffix}"
    write(path, 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for nbytes in (0, 100, path.stat().st_size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, before[1]))
        try:
            with pytest.raises(OSError, match="too large"):
                write(path, 1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert read(path) == 1
        assert _files(tmp_path) == [path.name]


def test_two_concurrent_writers_leave_a_complete_file(case: Case, tmp_path: Path) -> None:
    if sys.platform == "emscripten":
        pytest.skip("a page's Python has one thread")
    suffix, write, read = case
    path = tmp_path / f"shared{suffix}"
    errors: list[BaseException] = []

    def again(n: int) -> None:
        try:
            for _ in range(5):
                write(path, n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=again, args=(n,)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert read(path) in (1, 2, 3)
    assert _files(tmp_path) == [path.name]


def test_tasks_that_save_to_one_path_leave_a_complete_file(bg: Any, tmp_path: Path) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    path = tmp_path / "shared.safetensors"
    values = [{"a": bg.full(1000, n), "b": bg.full(2000, n)} for n in range(4)]

    async def all_at_once() -> None:
        await asyncio.gather(*(bg.io.save_safetensors_async(path, one) for one in values))

    run_sync(all_at_once())
    found = bg.io.load_safetensors(path)
    assert float(found["a"][0]) == float(found["b"][0])
    assert _files(tmp_path) == [path.name]


def test_a_cancelled_task_leaves_the_old_file(bg: Any, tmp_path: Path) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    path = tmp_path / "kept.safetensors"
    bg.io.save_safetensors(path, {"a": bg.ones(3)})

    async def cancelled() -> None:
        many = {str(n): bg.zeros(1000) for n in range(50)}
        task = asyncio.ensure_future(bg.io.save_safetensors_async(path, many))
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_sync(cancelled())
    assert list(bg.io.load_safetensors(path)) == ["a"]
    assert _files(tmp_path) == [path.name]


def test_links_and_permissions_stay(case: Case, tmp_path: Path) -> None:
    suffix, write, read = case
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    own, link = elsewhere / f"own{suffix}", tmp_path / f"link{suffix}"
    link.symlink_to(own)
    write(link, 1)  # the target does not exist yet
    assert link.is_symlink()
    assert read(own) == 1
    own.chmod(0o640)
    write(link, 2)
    assert link.is_symlink()
    assert read(own) == 2
    assert stat.S_IMODE(own.stat().st_mode) == 0o640
    assert _files(elsewhere) == [own.name]


def test_new_files_have_the_permissions_of_all_new_files(case: Case, tmp_path: Path) -> None:
    suffix, write, _ = case
    path = tmp_path / f"new{suffix}"
    write(path, 1)
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_place_that_cannot_be_written_is_named(case: Case, tmp_path: Path) -> None:
    suffix, write, _ = case
    path = tmp_path / "none" / f"x{suffix}"
    with pytest.raises(FileNotFoundError) as found:
        write(path, 1)
    assert found.value.filename == str(path)
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        write(folder, 1)
    assert _files(tmp_path) == [folder.name]


def test_a_pipe_is_written_to_and_not_replaced(case: Case, tmp_path: Path) -> None:
    if sys.platform == "emscripten":
        pytest.skip("a page has no pipes by name")
    suffix, write, read = case
    pipe, copy = tmp_path / f"pipe{suffix}", tmp_path / f"copy{suffix}"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe, 2)
    reader.join()
    assert pipe.is_fifo()
    assert read(copy) == 2


class _Sink:
    """An object with only ``write``, which is all that ``np.save`` requires."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: Any) -> None:
        self.data += bytes(data)


@pytest.mark.parametrize("save", ["save", "savez", "savez_compressed"])
def test_open_files_get_the_bytes_and_paths_a_suffix(bg: Any, tmp_path: Path, save: str) -> None:
    x = bg.arange(10.0)
    write = getattr(bg, save)
    own = tmp_path / "own"  # open files get no added suffix
    with open(own, "wb") as file:
        file.write(b"before")
        write(file, x)
    memory = io.BytesIO()
    write(memory, x)
    written = [own.read_bytes().removeprefix(b"before"), memory.getvalue()]
    if save == "save":
        sink = _Sink()
        write(sink, x)
        written.append(sink.data)
    for data in written:
        found = np.load(io.BytesIO(data))
        array = found if isinstance(found, np.ndarray) else found["arr_0"]
        np.testing.assert_array_equal(array, np.arange(10))
    write(str(tmp_path / "text"), x)
    write(tmp_path / "path", x)
    suffix = ".npy" if save == "save" else ".npz"
    assert _files(tmp_path) == sorted(["own", f"path{suffix}", f"text{suffix}"])


def test_a_mapped_file_can_be_replaced(bg: Any, tmp_path: Path) -> None:
    """A mapped file keeps its bytes: the new file replaces it instead of truncating it."""
    path = tmp_path / "x.safetensors"
    bg.io.save_safetensors(path, {"x": bg.arange(1000.0)})
    old = bg.io.Safetensors(path)
    bg.io.save_safetensors(path, {"x": bg.zeros(3)})
    np.testing.assert_array_equal(old.numpy("x"), np.arange(1000))
