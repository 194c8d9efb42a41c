"""The jsDelivr CDN as a source of single files over HTTP."""

import http.client
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from devsite.errors import Interrupted, NotDelivered
from devsite.manifest import ManifestFile
from devsite.store import CHUNK

DEFAULT_CDN = "https://cdn.jsdelivr.net"
ANSWER_TIMEOUT = 5.0  # seconds for the first answer
READ_TIMEOUT = 30.0
FILE_TIMEOUT = 600.0


class Cdn:
    """Source of files by their CDN path in the manifest."""

    def __init__(self, base: str = DEFAULT_CDN, answer_timeout: float = ANSWER_TIMEOUT) -> None:
        self.base = base.rstrip("/")
        self.name = urllib.parse.urlsplit(self.base).hostname or self.base
        self._answer_timeout = answer_timeout
        self._asking = threading.Lock()
        self._lost: str | None = None  # why it is unreachable; None before the first request

    def bundles(self, files: Sequence[ManifestFile]) -> list[Sequence[ManifestFile]]:
        """Return one bundle per file, large files first, since they take longest."""
        mine = [file for file in files if file.cdn is not None]
        return [[file] for file in sorted(mine, key=lambda file: -file.size)]

    def deliver(
        self, bundle: Sequence[ManifestFile], folder: Path, cancelled: threading.Event
    ) -> Iterator[tuple[ManifestFile, Iterator[bytes]]]:
        """Yield the files from the network. Raises NotDelivered without a network."""
        with self._asking:
            if self._lost is None:
                self._lost = self._probe(bundle[0])
        # After one failed connection, the next file would only wait as long again.
        if self._lost:
            raise NotDelivered(f"cannot be reached ({self._lost})")
        for file in bundle:
            yield file, self._chunks(file, cancelled)

    def _probe(self, file: ManifestFile) -> str:
        """Return why the CDN is unreachable, or an empty string.

        The request runs in a thread, since resolving a host name has no timeout.
        """
        outcome = ["no answer in time"]

        def ask() -> None:
            try:
                self._open(file, "HEAD").close()
            except urllib.error.HTTPError:
                outcome[0] = ""
            except (OSError, http.client.HTTPException, ValueError) as error:
                outcome[0] = _reason(error)
            else:
                outcome[0] = ""

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(self._answer_timeout)
        return outcome[0]

    def _open(self, file: ManifestFile, method: str) -> http.client.HTTPResponse:
        url = f"{self.base}/{urllib.parse.quote(file.cdn or '', safe='/@')}"
        headers = {"User-Agent": "browsergpu-serve"}
        request = urllib.request.Request(url, headers=headers, method=method)
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=READ_TIMEOUT)
        return response

    def _chunks(self, file: ManifestFile, cancelled: threading.Event) -> Iterator[bytes]:
        deadline = time.monotonic() + FILE_TIMEOUT
        try:
            with self._open(file, "GET") as response:
                while chunk := response.read(CHUNK):
                    if cancelled.is_set():
                        raise Interrupted("Stopped before every file was fetched.")
                    if time.monotonic() > deadline:
                        raise NotDelivered(f"{file.name} took longer than {FILE_TIMEOUT:.0f} s")
                    yield chunk
        except (OSError, http.client.HTTPException) as error:
            if type(error) is urllib.error.URLError:  # no connection; an answer is an HTTPError
                self._lost = _reason(error)
            raise NotDelivered(f"{file.name}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error) or type(error).__name__
