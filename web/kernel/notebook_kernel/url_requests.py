"""Requests of `urllib.request` by the browser's fetch, since a page has no sockets.

`urllib.request.urlopen`, `pandas.read_csv(address)` and `urlretrieve` read addresses this way.
`requests` and urllib3 have their own support for Pyodide.
"""

import io
import urllib.error
import urllib.request
from email.message import Message
from typing import Any
from urllib.response import addinfourl

import pyodide.ffi
from pyodide.http import pyfetch

#: Headers that the browser sets by itself, and refuses from a page.
_BROWSERS_OWN = {"connection", "content-length", "host", "user-agent", "accept-encoding"}
#: Headers that describe the bytes before the browser decoded them.
_BEFORE_DECODING = {"content-encoding", "content-length", "transfer-encoding"}


def install() -> None:
    """Make all openers of `urllib.request` fetch http and https addresses."""
    urllib.request.HTTPHandler.http_open = _open  # type: ignore[method-assign, assignment]
    urllib.request.HTTPSHandler.https_open = _open  # type: ignore[method-assign, assignment]


def _open(_handler: Any, request: urllib.request.Request) -> addinfourl:
    address = request.full_url
    if not pyodide.ffi.can_run_sync():
        raise urllib.error.URLError(
            f"urlopen cannot wait for {address} here. Use: await pyodide.http.pyfetch(address)"
        )
    response = pyodide.ffi.run_sync(_fetched(request))
    headers = Message()
    for name, value in response.headers.items():
        if name.lower() not in _BEFORE_DECODING:
            headers[name] = value
    body = io.BytesIO(pyodide.ffi.run_sync(response.bytes()))
    found = addinfourl(body, headers, response.url, response.status)
    found.msg = response.status_text  # type: ignore[attr-defined]
    return found


async def _fetched(request: urllib.request.Request) -> Any:
    address = request.full_url
    sent = {
        name: value for name, value in request.header_items() if name.lower() not in _BROWSERS_OWN
    }
    options: dict[str, Any] = {"method": request.get_method(), "headers": sent}
    if request.data is not None:
        options["body"] = _bytes_of(request.data)
    if isinstance(request.timeout, int | float):  # type: ignore[attr-defined]
        import js

        options["signal"] = js.AbortSignal.timeout(1000 * request.timeout)  # type: ignore[attr-defined]
    try:
        return await pyfetch(address, **options)
    except Exception as error:  # of JavaScript or of pyfetch, without the address
        raise urllib.error.URLError(
            f"the browser could not fetch {address}: {error}. The host must be reachable and allow "
            "other sites to read it (CORS). A file that you drop on the page needs no host."
        ) from None


def _bytes_of(data: Any) -> bytes:
    if hasattr(data, "read"):
        return data.read()
    return bytes(data) if isinstance(data, bytes | bytearray | memoryview) else b"".join(data)
