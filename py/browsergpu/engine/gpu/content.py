"""The content at an address."""

from __future__ import annotations

from collections.abc import Callable

from browsergpu.engine.gpu import platform

#: Called with the bytes that have arrived, and their expected number.
Report = Callable[[int, int | None], object]

_OK = 200


async def fetch(url: str, report: Report | None = None) -> memoryview:
    """Return the content at an address. Raises OSError if it cannot be fetched as a whole.

    It is in memory once in a page, and on a mapped temporary file natively. ``report`` gets the
    bytes so far and their expected number, or None if the server does not tell.
    """
    answer = await platform.open_address(url, may_be_cached=True)
    content = None
    try:
        if answer.status != _OK:
            raise OSError(f"{url}: status {answer.status}")
        length = answer.headers.get("content-length", "")
        # The length of compressed content is not that of the pieces.
        is_plain = answer.headers.get("content-encoding", "identity") == "identity"
        total = int(length) if is_plain and length.isdecimal() else None
        content, size = platform.Content(total), 0
        try:
            async for piece in answer:
                content.append(piece)
                size += len(piece)
                if report is not None:
                    report(size, total)
        except ConnectionError as error:
            raise OSError(f"{url}: {error}") from None
        if total is not None and size != total:
            raise OSError(f"{url}: {size} bytes of {total}")
        return content.finished()
    finally:
        if content is not None:
            content.close()
        await answer.close()
