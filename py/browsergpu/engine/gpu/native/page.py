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

from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.engine import why_none
from browsergpu.engine.gpu.native.waiting import without_the_loop

IN_PYODIDE = False
_FETCH_S = 60.0  # without an answer
_CHUNK = 1 << 20  # bytes
#: Levels of gray of the paper, and of lines and texts.
_WHITE, _INK = 255, 38
_ANCHORS = {"left": "lm", "center": "mm", "right": "rm"}
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
    """Return the uint8 RGBA image [height, width, 4] of black rectangles and texts on white.

    See ``functions/images/figures.py`` for ``lines`` and ``texts``. Raises Unsupported without
    Pillow.
    """
    try:
        from PIL import Image, ImageChops, ImageDraw, ImageFont
    except ModuleNotFoundError:
        message = "texts and axes need Pillow outside of a browser. Install it: pip install pillow"
        raise Unsupported("draw", message) from None
    image = Image.new("L", (width, height), _WHITE)
    pen = ImageDraw.Draw(image)
    for left, top, across, down in lines:
        pen.rectangle((left, top, left + across - 1, top + down - 1), fill=_INK)
    for text, x, y, align, size in texts:
        font = ImageFont.load_default(size)
        if align != "up":
            pen.text((x, y), text, fill=_INK, font=font, anchor=_ANCHORS[align])
            continue
        length, room = round(font.getlength(text)) + 2, 2 * size
        lying = Image.new("L", (length, room), _WHITE)
        middle = length / 2, room / 2
        ImageDraw.Draw(lying).text(middle, text, fill=_INK, font=font, anchor="mm")
        upright = lying.transpose(Image.Transpose.ROTATE_90)
        left, top = x - room // 2, y - length // 2
        below = image.crop((left, top, left + room, top + length))
        image.paste(ImageChops.darker(below, upright), (left, top))
    painted = np.full((height, width, 4), _WHITE, np.uint8)
    painted[..., :3] = np.asarray(image)[..., None]
    return painted


def pointer_owner(canvas_id: str) -> int | None:
    """Return None, since there is no page that sends pointer input."""
    return None


def send_pointer(
    canvas: Any, canvas_id: str, owner: int | None, receive: Callable[[str], None]
) -> None:
    """Raise JsError, since there are no canvases."""
    raise JsError("pointer input comes only from a page")


def mark_plot(canvas: Any, owner: int | None) -> bool:
    """Raise JsError, since there are no canvases."""
    raise JsError("plots are zoomed only in a page")


def waiting_pointer() -> str:
    """Return "", since there is no page that sends pointer input."""
    return ""


def hand_over(name: str, content: bytes) -> bool:
    """Return False, since there is no browser to download the file."""
    return False
