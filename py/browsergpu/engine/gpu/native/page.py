"""Replacements for functions that only work in a page."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Callable
from functools import partial
from http.client import HTTPException
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Any
from urllib.error import HTTPError

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.engine import why_none
from browsergpu.engine.gpu.native.waiting import without_the_loop

IN_PYODIDE = False
_FETCH_S = 60.0  # without an answer
_CHUNK = 1 << 20  # bytes
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


class Content(Shown):
    """Pieces of content that arrive, in a temporary file, which is then mapped.

    Parameters
    ----------
    total : int or None
        The expected number of bytes.
    """

    def __init__(self, total: int | None) -> None:
        del total  # a file grows as it needs
        self._file, self._size = TemporaryFile(), 0  # noqa: SIM115 - closed by close()

    def append(self, piece: bytes) -> None:
        """Add a piece."""
        self._file.write(piece)
        self._size += len(piece)

    def finished(self) -> memoryview:
        """Return the whole content."""
        if not self._size:
            return memoryview(b"")
        self._file.flush()
        return memoryview(mmap(self._file.fileno(), 0, access=ACCESS_READ))

    def close(self) -> None:
        """Close the file. What is mapped stays."""
        self._file.close()


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
            part = await without_the_loop(partial(self._response.read1, _CHUNK))
        except (OSError, HTTPException) as error:
            raise ConnectionError(str(error)) from None
        if not part:
            raise StopAsyncIteration
        return part  # type: ignore[no-any-return]

    async def close(self) -> None:
        """End the request."""
        self._response.close()


async def open_address(url: str, begin: int = 0, *, may_be_cached: bool = False) -> Answer:
    """Request the bytes at an address from ``begin`` on. Raises ConnectionError without an answer.

    Requests run in a thread if an event loop has other tasks. Nothing is cached here.
    """
    del may_be_cached
    request = urllib.request.Request(url, headers={"Range": f"bytes={begin}-"} if begin else {})
    try:
        opener = partial(_opener().open, request, timeout=_FETCH_S)
        return Answer(await without_the_loop(opener))
    except HTTPError as error:
        return Answer(error)
    except (OSError, HTTPException) as error:
        raise ConnectionError(f"{url}: {error}") from None


def load_package(name: str) -> bool:
    """Return False, since packages are installed by pip here."""
    return False


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


def pointer_owner(canvas_id: str) -> int | None:
    """Return None, since there is no page that sends pointer input."""
    return None


def send_pointer(
    canvas: Any, canvas_id: str, owner: int | None, receive: Callable[[str], None]
) -> None:
    """Raise JsError, since there are no canvases."""
    raise JsError("pointer input comes only from a page")


def waiting_pointer() -> str:
    """Return "", since there is no page that sends pointer input."""
    return ""


def hand_over(name: str, content: bytes) -> bool:
    """Return False, since there is no browser to download the file."""
    return False
