"""Replacements for functions that only work in a page."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Any
from urllib.error import HTTPError

import numpy as np

from browsergpu.core.showing import Shown
from browsergpu.gpu.native.engine import why_none

IN_PYODIDE = False
_FETCH_S = 60.0  # without an answer
_CHUNK = 1 << 20  # bytes
#: Called with the bytes that have arrived, and their expected number.
Report = Callable[[int, int | None], object]
JsError: type[BaseException] = RuntimeError


def why_no_gpu() -> str:
    """Return the reason why there is no GPU, with advice."""
    return why_none()


def global_text(name: str) -> str | None:
    """Return an environment variable, or None."""
    return os.environ.get(name)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener of http and https, and of no files, which a redirection could name."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor, urllib.request.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener


async def fetch(url: str, report: Report | None = None) -> memoryview:
    """Return the content at an address of the schemes http and https, on a file on disk.

    ``report`` gets the bytes so far and their expected number, or None if the server does not tell.
    Raises OSError if the content cannot be fetched as a whole.
    """
    try:
        with _opener().open(url, timeout=_FETCH_S) as response, TemporaryFile() as file:
            total, size = response.length, 0
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                size += len(chunk)
                if report is not None:
                    report(size, total)
            file.flush()
            if total is not None and size != total:
                raise OSError(f"{url}: {size} bytes of {total}")
            if not size:
                return memoryview(b"")
            return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    except HTTPError as error:
        raise OSError(f"{url}: status {error.code}") from None
    except HTTPException as error:
        raise OSError(f"{url}: {type(error).__name__}: {error}") from None


class Answer(Shown):
    """The answer to a request, whose bytes are iterated over as they arrive.

    Attributes
    ----------
    status : int
        HTTP's status.
    headers : dict
        The headers by names in lower case.
    """

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status = int(response.status)
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    def __aiter__(self) -> Answer:
        return self

    async def __anext__(self) -> bytes:
        try:
            part = self._response.read1(_CHUNK)
        except (OSError, HTTPException) as error:
            raise ConnectionError(str(error)) from None
        if not part:
            raise StopAsyncIteration
        return part  # type: ignore[no-any-return]

    async def close(self) -> None:
        """End the request."""
        self._response.close()


async def open_address(url: str, begin: int = 0) -> Answer:
    """Request the bytes at an address from ``begin`` on. Raises ConnectionError without an answer.

    Blocks, as all requests outside of pages.
    """
    request = urllib.request.Request(url, headers={"Range": f"bytes={begin}-"} if begin else {})
    try:
        return Answer(_opener().open(request, timeout=_FETCH_S))
    except HTTPError as error:
        return Answer(error)
    except (OSError, HTTPException) as error:
        raise ConnectionError(f"{url}: {error}") from None


async def load_naga(url: str) -> Any:
    """Raise JsError, since there is no JavaScript to translate SPIR-V."""
    raise JsError("SPIR-V can be translated only in a page. Pass WGSL here.")


def find_canvas(canvas_id: str) -> Any | None:
    """Return None, since there are no canvases."""
    return None


def is_canvas(value: Any) -> bool:
    """Return False, since there are no canvases."""
    return False


def paint_frame(height: int, width: int, lines: Any, texts: Any) -> np.ndarray:
    """Raise JsError, since there is no browser to draw the texts."""
    raise JsError("texts can be drawn only in a page")


def hand_over(name: str, content: bytes) -> bool:
    """Return False, since there is no browser to download the file."""
    return False
