"""Downloads that go on where they were cut."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.gpu import platform
from browsergpu.networks.hub import store
from browsergpu.networks.hub.reports import Report, reporter
from browsergpu.networks.hub.store import KeptFile, Place

_OP = "hub.download"
_HUB = "https://huggingface.co"
#: Requests in a row without a new byte, after which a download fails.
_TRIES = 4
_PAUSE_S = 0.25
_OK, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416
#: Statuses of files that are not there.
_MISSING = {404, 410}
#: Statuses after which another request can succeed.
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def download(
    source: str, file: str | None = None, *, revision: str = "main", sha256: str | None = None,
    folder: Any = None, progress: bool | Report = False,
) -> Path:  # fmt: skip
    """Download a file once, and return its path. Blocks.

    A file that is there is not requested again. A download that was cut goes on where it ended, if
    the server supports range requests and the file has not changed.

    Parameters
    ----------
    source : str
        An address that starts with ``https://`` or ``http://``, or a repository ``owner/name`` of
        Hugging Face. In a page, the server must allow other sites to read (CORS).
    file : str, optional
        The path of the file in the repository. Only for repositories.
    revision : str
        Branch, tag or commit of the repository.
    sha256 : str, optional
        The expected hash, in hexadecimal. A file with another hash is deleted.
    folder : path, optional
        The folder for all files. The default in a page is ``~/models``, which the notebook stores
        in the browser. The default elsewhere is a folder in the user's cache.
    progress : bool or callable
        True shows a bar. A function is called as ``progress(done, total, what)`` with the bytes
        that are there, those of the file or None, and the file's name.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    OSError
        If the server refuses the request, or the connection fails several times in a row.
        FileNotFoundError if the server has no such file.
    InvalidArgument
        If the file has another hash than ``sha256``.
    Unsupported
        If Python cannot block here: use :func:`download_async`.

    Examples
    --------
    >>> bg.hub.download("owner/name")
    Traceback (most recent call last):
    browsergpu.errors.InvalidType: hub.download: file must be a path in the repository, got None.
    """
    own = _checked(source, file, revision, sha256, folder, progress)
    kept = own.kept()
    return kept.path if kept else platform.block_on(_downloaded(own), _OP)


async def download_async(
    source: str, file: str | None = None, *, revision: str = "main", sha256: str | None = None,
    folder: Any = None, progress: bool | Report = False,
) -> Path:  # fmt: skip
    """Download a file once, as :func:`download`, without blocking a page."""
    own = _checked(source, file, revision, sha256, folder, progress)
    kept = own.kept()
    return kept.path if kept else await _downloaded(own)


def files(*, folder: Any = None) -> list[KeptFile]:
    """Return the downloaded files, by name.

    Parameters
    ----------
    folder : path, optional
        The folder of all files, as :func:`download` takes it.

    Examples
    --------
    >>> bg.hub.files(folder="a folder without downloads")
    []
    """
    return store.all_kept(store.folder_of("hub.files", folder))


def delete(source: str, file: str | None = None, *, revision: str = "main", folder: Any = None
           ) -> bool:  # fmt: skip
    """Delete a downloaded file, or the part of it that is there.

    Parameters
    ----------
    source, file, revision, folder
        As :func:`download` takes them.

    Returns
    -------
    bool
        Whether there was one.

    Examples
    --------
    >>> bg.hub.delete("https://example.org/model.gguf", folder="a folder without downloads")
    False
    """
    op = "hub.delete"
    return store.remove(store.folder_of(op, folder), _address(op, source, file, revision))


@dataclass(frozen=True)
class _Download:
    """Checked arguments."""

    place: Place
    sha256: str | None
    report: Report

    def kept(self) -> KeptFile | None:
        """Return the file, unless it is missing or has another hash."""
        found = self.place.kept()
        return found if found and self.sha256 in (None, found.sha256) else None


def _checked(
    source: Any, file: Any, revision: Any, sha256: Any, folder: Any, progress: Any
) -> _Download:
    address = _address(_OP, source, file, revision)
    if sha256 is not None:
        sha256 = sha256.lower() if isinstance(sha256, str) else sha256
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise InvalidArgument(_OP, "sha256", sha256, "64 hexadecimal digits")
    report = reporter(_OP, progress)
    return _Download(Place(store.folder_of(_OP, folder), address), sha256, report)


def is_address(source: Any) -> bool:
    """Whether something is an address of HTTP."""
    return isinstance(source, str) and source.startswith(("https://", "http://"))


def _address(op: str, source: Any, file: Any, revision: Any) -> str:
    if is_address(source):
        if file is not None or revision != "main":
            name = "file" if file is not None else "revision"
            given = file if file is not None else revision
            raise InvalidArgument(op, name, given, "left out, as source is an address")
        if not urlsplit(source).hostname:
            raise InvalidArgument(op, "source", source, "an address with a host")
        return str(source)
    if not isinstance(source, str) or not _REPOSITORY.fullmatch(source):
        raise InvalidArgument(op, "source", source, "an http address, or a repository owner/name")
    for name, one in (("file", file), ("revision", revision)):
        if not isinstance(one, str) or not one or ".." in one.split("/"):
            raise InvalidType(op, name, one, f"a {'path' if name == 'file' else name} in the "
                              "repository")  # fmt: skip
    host = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    return f"{host}/{source}/resolve/{quote(revision, safe='')}/{quote(file)}"


async def _downloaded(own: _Download) -> Path:
    place = own.place
    with place.reserved():
        failures, best = 0, place.received()
        while True:
            try:
                await _receive(own)
                break
            except ConnectionError as error:
                # Bytes since the last request show that the server works.
                failures = 0 if place.received() > best else failures + 1
                best = max(best, place.received())
                if failures == _TRIES:
                    raise OSError(f"{place.address}: {error}. Call {_OP} again to go on.") from None
            await asyncio.sleep(_PAUSE_S * 2**failures)
        return _finished(own)


async def _receive(own: _Download) -> None:
    """Request the bytes that are missing. Raises ConnectionError if some are missing after that."""
    place, about = own.place, own.place.about()
    have = place.received()
    if have and about.size == have:
        return
    answer = await platform.open_address(place.address, have)
    try:
        size, tag = _facts(answer, have)
        status = answer.status
        if status == _NOT_SATISFIABLE and have:
            _start_again(place, "the server has fewer bytes than the part that is there")
        if status in _TRANSIENT:
            raise ConnectionError(f"status {status}")
        if status not in (_OK, _PARTIAL):
            kind = FileNotFoundError if status in _MISSING else OSError
            raise kind(f"{place.address}: status {status}")
        if status == _PARTIAL and (size, tag) != (about.size, about.tag):
            _start_again(place, "the file has changed since the download began")
        if status == _OK:
            have = 0
            about.size, about.tag = size, tag
            place.note(about)
        with open(place.part, "ab" if have else "wb") as file:
            async for piece in answer:
                file.write(piece)
                have += len(piece)
                own.report(have, about.size, place.path.name)
    finally:
        await answer.close()
    if about.size is None:
        about.size = have
        own.report(have, have, place.path.name)
    if have < about.size:
        raise ConnectionError(f"the connection ended after {have} of {about.size} bytes")
    if have > about.size and status == _PARTIAL:
        _start_again(place, f"the server sent more than {about.size} bytes")
    # A browser hides from other sites that a server has compressed the bytes that it counts.
    about.size = have
    place.note(about)


def _start_again(place: Place, why: str) -> None:
    place.part.unlink()
    raise ConnectionError(why)


def _facts(answer: Any, begin: int) -> tuple[int | None, str | None]:
    """Return the size of the whole file and the tag of its version, as far as the server says."""
    tag = answer.headers.get("etag") or answer.headers.get("last-modified")
    length = answer.headers.get("content-length", "")
    if not length.isdecimal() or "content-encoding" in answer.headers:
        return None, tag
    return int(length) + (begin if answer.status == _PARTIAL else 0), tag


def _finished(own: _Download) -> Path:
    """Give a whole file its name and its hash."""
    place, about = own.place, own.place.about()
    found = store.hash_of(place.part)
    if own.sha256 not in (None, found):
        place.part.unlink()
        raise InvalidArgument(_OP, "sha256", own.sha256, f"the hash of the file, {found}")
    about.size, about.sha256 = place.received(), found
    os.replace(place.part, place.path)
    place.note(about)
    return place.path
