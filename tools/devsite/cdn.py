"""Fetches single files from the jsDelivr CDN over HTTP."""

import http.client
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence

from devsite.errors import DamagedFile, Interrupted
from devsite.manifest import ManifestFile
from devsite.parallel import run_parallel
from devsite.progress import Progress
from devsite.store import CHUNK, Store

DEFAULT_CDN = "https://cdn.jsdelivr.net"
CONNECT_TIMEOUT = 4.0
READ_TIMEOUT = 30.0
FILE_TIMEOUT = 600.0
_ATTEMPTS = 2


class _FetchFailed(Exception):
    """The network or the server failed; not an OSError, which would mean the disk."""


class _ConnectionLost(_FetchFailed):
    """The server could not be reached at all."""


class _Http(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_TIMEOUT)


class _Https(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_TIMEOUT)


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Http, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Https, req)


class Cdn:
    """The CDN as a source of manifest files."""

    def __init__(self, base: str = DEFAULT_CDN, connect_timeout: float = CONNECT_TIMEOUT) -> None:
        self.base = base.rstrip("/")
        self._connect_timeout = connect_timeout
        self.name = urllib.parse.urlsplit(self.base).hostname or self.base
        self._opener = urllib.request.build_opener(_HttpHandler, _HttpsHandler)
        self._lost = ""

    def fetch(
        self,
        files: Sequence[ManifestFile],
        store: Store,
        progress: Progress,
        cancelled: threading.Event,
    ) -> dict[ManifestFile, str]:
        """Put what it can into the store; returns the others with the reason."""
        failures = {file: "not on the CDN" for file in files if file.cdn is None}
        wanted = [file for file in files if file.cdn is not None]
        if not wanted:
            return failures
        progress.working(f"Connecting to {self.name}")
        unreachable = self._probe(min(wanted, key=lambda file: file.size))
        if unreachable:
            progress.note(f"{self.name} cannot be reached ({unreachable})")
            return failures | dict.fromkeys(wanted, f"{self.name}: {unreachable}")

        def fetch_one(file: ManifestFile) -> str | None:
            reason = self._fetch_file(file, store, cancelled)
            if reason is None:
                progress.received(file.path, file.size, self.name)
            return reason

        # Big files first: they take longest.
        wanted.sort(key=lambda file: -file.size)
        for file, reason in zip(wanted, run_parallel(fetch_one, wanted, cancelled), strict=True):
            if reason is not None:
                progress.note(f"{self.name}: {reason}")
                failures[file] = f"{self.name}: {reason}"
        return failures

    def _probe(self, file: ManifestFile) -> str:
        """Why the CDN cannot be reached, or an empty string.

        One request for all files, in a thread of its own since looking up a host's address
        knows no time-out.
        """
        outcome = ["no answer in time"]

        def ask() -> None:
            try:
                self._open(file).close()
            except urllib.error.HTTPError:
                pass
            except (OSError, http.client.HTTPException, ValueError) as error:
                outcome[0] = _reason(error)
                return
            outcome[0] = ""

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(self._connect_timeout + 1)
        return outcome[0]

    def _open(self, file: ManifestFile) -> http.client.HTTPResponse:
        url = f"{self.base}/{urllib.parse.quote(file.cdn or '', safe='/@')}"
        request = urllib.request.Request(url, headers={"User-Agent": "browsergpu-serve"})
        response: http.client.HTTPResponse = self._opener.open(
            request, timeout=self._connect_timeout
        )
        return response

    def _fetch_file(
        self, file: ManifestFile, store: Store, cancelled: threading.Event
    ) -> str | None:
        reason = ""
        for _ in range(_ATTEMPTS):
            # One failure to connect is enough: the next file would only wait as long again.
            if self._lost:
                return f"{file.name}: {self._lost}"
            try:
                store.put(file, self._chunks(file, cancelled))
            except _ConnectionLost as error:
                self._lost = str(error)
            except (_FetchFailed, DamagedFile) as error:
                reason = str(error)
            else:
                return None
        return reason or f"{file.name}: {self._lost}"

    def _chunks(self, file: ManifestFile, cancelled: threading.Event) -> Iterator[bytes]:
        deadline = time.monotonic() + FILE_TIMEOUT
        try:
            with self._open(file) as response:
                while chunk := response.read(CHUNK):
                    if cancelled.is_set():
                        raise Interrupted("Stopped before every file was fetched.")
                    if time.monotonic() > deadline:
                        raise _FetchFailed(f"{file.name} took longer than {FILE_TIMEOUT:.0f} s")
                    yield chunk
        except urllib.error.HTTPError as error:
            raise _FetchFailed(f"{file.name}: {_reason(error)}") from error
        except urllib.error.URLError as error:
            raise _ConnectionLost(_reason(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _FetchFailed(f"{file.name}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error) or type(error).__name__
