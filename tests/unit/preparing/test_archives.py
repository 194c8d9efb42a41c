"""The notebook's unpacking of archives (notebook_kernel/archives.py)."""

from __future__ import annotations

import io
import runpy
import zipfile
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY

pytestmark = pytest.mark.fast

ARCHIVES = runpy.run_path(str(REPOSITORY / "web/kernel/notebook_kernel/archives.py"))
FILES = {"a/long.py": b"x = 1\n" * 5000, "a/b/empty.py": b"", "top.txt": b"top", "dir/": b""}


def archive(compression: int = zipfile.ZIP_DEFLATED, **more: bytes) -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as files:
        for name, data in {**FILES, **more}.items():
            files.writestr(name, data)
    return content


def below(folder: Path) -> dict[str, bytes]:
    """Return the files by path."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]
)
def test_extracts_as_zipfile_does(tmp_path: Path, compression: int) -> None:
    content = archive(compression)
    ARCHIVES["extract"](content, str(tmp_path / "ours"))
    zipfile.ZipFile(content).extractall(tmp_path / "zipfile")
    assert below(tmp_path / "ours") == below(tmp_path / "zipfile")
    assert (tmp_path / "ours/dir").is_dir()


def test_leaves_out_names(tmp_path: Path) -> None:
    ARCHIVES["extract"](archive(), str(tmp_path), without={"top.txt"})
    assert set(below(tmp_path)) == {"a/long.py", "a/b/empty.py"}


def test_writes_nothing_outside_of_the_folder(tmp_path: Path) -> None:
    outside = {"../up.txt": b"up", f"{tmp_path}/absolute.txt": b"absolute"}
    ARCHIVES["extract"](archive(**outside), str(tmp_path / "in"))
    assert set(below(tmp_path)) == {"in/a/long.py", "in/a/b/empty.py", "in/top.txt"}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_refuses_damaged_files(tmp_path: Path, compression: int) -> None:
    content = archive(compression)
    damaged = bytearray(content.getvalue())
    damaged[len("a/long.py") + 30 + 20] ^= 1
    with pytest.raises(zipfile.BadZipFile, match=r"a/long\.py"):
        ARCHIVES["extract"](io.BytesIO(damaged), str(tmp_path))
