"""The cache contains only complete, verified files."""

import hashlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample import files_below, manifest_file, tiny_disk

from devsite.errors import CacheUnusable, DamagedFile
from devsite.layout import REPOSITORY
from devsite.store import Store

pytestmark = pytest.mark.fast

CONTENT = bytes(range(256)) * 40
FILE = manifest_file("folder/data.bin", CONTENT)


def test_put_then_holds(store: Store) -> None:
    assert not store.holds(FILE)
    store.put(FILE, [CONTENT[:1000], CONTENT[1000:]])
    assert store.holds(FILE)
    assert store.path(FILE).read_bytes() == CONTENT
    assert files_below(store.temporary) == []


@pytest.mark.parametrize(
    ("arrived", "problem"),
    [
        (CONTENT[:-1] + b"!", "sha256"),
        (CONTENT[:-1], "ended after 10239 of 10240 bytes"),
        (b"", "ended after 0 of 10240 bytes"),
        (CONTENT + b"!", "longer"),
    ],
)
def test_wrong_bytes_are_refused(store: Store, arrived: bytes, problem: str) -> None:
    with pytest.raises(DamagedFile, match=problem) as caught:
        store.put(FILE, [arrived])
    assert "data.bin" in str(caught.value)
    assert files_below(store.root) == []
    assert files_below(store.temporary) == []


def test_wrong_bytes_leave_the_old_file(store: Store) -> None:
    store.put(FILE, [CONTENT])
    with pytest.raises(DamagedFile):
        store.put(FILE, [CONTENT[::-1]])
    assert store.holds(FILE)


def test_longer_than_said_is_not_read_to_its_end(store: Store) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield CONTENT

    with pytest.raises(DamagedFile, match="longer"):
        store.put(FILE, endless())


def test_a_source_that_breaks_off_leaves_nothing(store: Store) -> None:
    def breaking() -> Iterator[bytes]:
        yield CONTENT[:5000]
        raise RuntimeError("the cable was cut")

    with pytest.raises(RuntimeError, match="cable"):
        store.put(FILE, breaking())
    assert files_below(store.root.parent) == []


def test_unfinished_files_are_never_visible(store: Store) -> None:
    target = store.path(FILE)

    def watched() -> Iterator[bytes]:
        for begin in range(0, len(CONTENT), 1024):
            assert not target.exists()
            yield CONTENT[begin : begin + 1024]
        assert not target.exists()

    store.put(FILE, watched())
    assert target.read_bytes() == CONTENT


def test_damaged_files_are_missing_and_thrown_away(store: Store) -> None:
    other = manifest_file("other.bin", b"other")
    store.put(FILE, [CONTENT])
    store.put(other, [b"other"])
    damaged = bytearray(CONTENT)
    damaged[77] ^= 1
    store.path(FILE).write_bytes(damaged)
    assert store.missing([FILE, other]) == [FILE]
    assert files_below(store.root) == ["other.bin"]


def test_half_a_file_is_missing(store: Store) -> None:
    store.put(FILE, [CONTENT])
    os.truncate(store.path(FILE), 100)
    assert store.missing([FILE]) == [FILE]


def test_a_folder_with_the_files_name_raises(store: Store) -> None:
    store.path(FILE).mkdir(parents=True)
    (store.path(FILE) / "inside").touch()
    with pytest.raises(CacheUnusable, match=r"data\.bin"):
        store.put(FILE, [CONTENT])
    assert files_below(store.temporary) == []


def test_a_file_with_the_caches_name_raises(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    store = Store(tmp_path / "cache" / "files", tmp_path / "cache" / "tmp")
    with pytest.raises(CacheUnusable, match="cache"):
        store.holds(FILE)
    with pytest.raises(CacheUnusable, match="cache"):
        store.put(FILE, [CONTENT])
    with pytest.raises(CacheUnusable, match="cache"):
        store.clear_temporary()


def test_clear_temporary_removes_what_was_left(store: Store) -> None:
    (store.temporary / "deep").mkdir(parents=True)
    (store.temporary / "deep" / "half.whl").write_bytes(b"half")
    store.clear_temporary()
    assert list(store.temporary.iterdir()) == []


FILL = textwrap.dedent("""
    import hashlib, sys
    from pathlib import Path
    from devsite.errors import DiskFull
    from devsite.manifest import ManifestFile
    from devsite.store import Store

    if sys.argv[2] == "limit":
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    content = b"x" * 1_000_000
    digest = hashlib.sha256(content).hexdigest()
    file = ManifestFile("big.bin", "1", len(content), digest)
    folder = Path(sys.argv[1])
    try:
        Store(folder / "files", folder / "tmp").put(file, [content[:500_000], content[500_000:]])
    except DiskFull as error:
        print(error)
""")


def _fill(folder: Path, how: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", FILL, str(folder), how],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tools")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_a_file_larger_than_the_system_allows_raises(tmp_path: Path) -> None:
    told = _fill(tmp_path, "limit")
    assert "No space left" in told
    assert "big.bin" in told
    assert files_below(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_a_full_disk_raises_and_leaves_no_file(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        told = _fill(disk, "disk")
        assert "No space left" in told
        assert "free" in told
        assert files_below(disk) == []


def test_hash_is_really_compared(store: Store) -> None:
    same_size = hashlib.sha256(CONTENT).digest() * (len(CONTENT) // 32)
    store.path(FILE).parent.mkdir(parents=True)
    store.path(FILE).write_bytes(same_size)
    assert store.path(FILE).stat().st_size == FILE.size
    assert not store.holds(FILE)
