"""Reads single files out of what npm and pip download."""

import json
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from devsite.store import CHUNK


class DamagedArchive(Exception):
    """The archive cannot be read, or lacks the file."""


def read_tarball_member(archive: Path, member: str) -> Iterator[bytes]:
    """A file of an npm tarball, whose single top folder can have any name."""
    try:
        with tarfile.open(archive) as tar:
            for info in tar:
                if info.isfile() and info.name.partition("/")[2] == member:
                    stream = tar.extractfile(info)
                    assert stream is not None, "a regular file always has a stream"
                    yield from _chunks(stream)
                    return
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DamagedArchive(f"{archive.name} cannot be read: {error}") from error
    raise DamagedArchive(f"{archive.name} has no {member}")


def read_zip_member(archive: Path, member: str) -> Iterator[bytes]:
    """A file of a wheel."""
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(member) as stream:
            yield from _chunks(stream)
    except KeyError as error:
        raise DamagedArchive(f"{archive.name} has no {member}") from error
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise DamagedArchive(f"{archive.name} cannot be read: {error}") from error


def npm_identity(archive: Path) -> tuple[str, str]:
    """The name and version that an npm tarball says it has."""
    package = json.loads(b"".join(read_tarball_member(archive, "package.json")))
    return package["name"], package["version"]


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk
