"""The only module that imports ``js`` and ``pyodide``, so that other modules run on the host.

Without Pyodide, ``IN_PYODIDE`` is False and :func:`gpu` returns None. The other functions must not
be called.
"""

from __future__ import annotations

import importlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown

try:
    import js
    import pyodide_js
    from pyodide.code import run_js
    from pyodide.ffi import JsException, can_run_sync, create_proxy, jsnull, run_sync, to_js

    IN_PYODIDE = True
except ImportError:
    IN_PYODIDE = False

#: Bytes of a piece of a download, at most.
_PIECE = 1 << 20
#: Bytes that are reserved for a download before they arrive.
_MOST_RESERVED = 1 << 30


def gpu() -> Any | None:
    """Return ``navigator.gpu``, or None outside a browser with WebGPU."""
    if not IN_PYODIDE:
        return None
    return or_none(getattr(getattr(js, "navigator", None), "gpu", None))


def or_none(value: Any) -> Any | None:
    """Convert JavaScript's null to None. Pyodide converts only undefined."""
    return None if value is jsnull else value


def why_no_gpu() -> str:
    """Return the reason why :func:`gpu` returns None, with advice."""
    if not IN_PYODIDE:
        return (
            "there is no WebGPU outside a browser. Run this in a page through Pyodide "
            "(python3 serve.py opens one)."
        )
    if not getattr(js, "isSecureContext", True):
        return "WebGPU needs a secure page. Serve it over https or from localhost."
    return (
        "this browser has no WebGPU here (navigator.gpu is missing). Use Chrome or Edge 137+, "
        "Firefox 153+ or Safari 27+, and check that hardware acceleration is on."
    )


def to_object(value: dict[str, Any]) -> Any:
    """Convert a dict, and nested dicts, to plain JavaScript objects."""
    return to_js(value, dict_converter=js.Object.fromEntries)


def limits(limits: Any) -> dict[str, int]:
    """Convert a GPUSupportedLimits to a dict."""
    return {name: int(getattr(limits, name)) for name in dir(limits) if name[:3] in ("max", "min")}


@cache
def load_function(source: str) -> Any:
    """Evaluate JavaScript ``source``, once, and return the function or object of functions."""
    return run_js(source)


def global_text(name: str) -> str | None:
    """Return a string property of JavaScript's globalThis, or None."""
    value = getattr(js, name, None)
    return value if isinstance(value, str) else None


class Content(Shown):
    """Pieces of content that arrive, in Python's memory, where they are once.

    Parameters
    ----------
    total : int or None
        The expected number of bytes.
    """

    def __init__(self, total: int | None) -> None:
        self._memory, self._size = bytearray(min(total or 0, _MOST_RESERVED)), 0

    def append(self, piece: bytes) -> None:
        """Add a piece."""
        end = self._size + len(piece)
        if end > len(self._memory):
            self._memory.extend(bytes(end - len(self._memory)))
        self._memory[self._size : end] = piece
        self._size = end

    def finished(self) -> memoryview:
        """Return the whole content."""
        del self._memory[self._size :]
        return memoryview(self._memory)

    def close(self) -> None:
        """Do nothing, as the memory is freed with the last reference."""


class Answer(Shown):
    """The answer to a request, whose bytes are iterated over as they arrive.

    Attributes
    ----------
    status : int
        HTTP's status.
    headers : dict
        The headers that the browser shows, by names in lower case.
    """

    def __init__(self, response: Any) -> None:
        self.status = int(response.status)
        self.headers = {str(name): str(value) for name, value in response.headers.entries()}
        body = or_none(response.body)
        self._reader = None if body is None else body.getReader()
        self._left: Any = None

    def __aiter__(self) -> Answer:
        return self

    async def __anext__(self) -> bytes:
        if self._reader is None:
            raise StopAsyncIteration
        if self._left is None:
            try:
                item = await self._reader.read()
            except JsError as error:
                raise ConnectionError(str(error)) from None
            if item.done:
                raise StopAsyncIteration
            self._left = item.value
        # A browser's pieces can have many MiB, which would be in memory twice.
        piece, size = self._left, int(self._left.length)
        self._left = piece.subarray(_PIECE) if size > _PIECE else None
        return piece.subarray(0, _PIECE).to_bytes()  # type: ignore[no-any-return]

    async def close(self) -> None:
        """End the request."""
        if self._reader is not None:
            with suppress(JsError):  # it has failed before
                await self._reader.cancel()


async def open_address(url: str, begin: int = 0, *, may_be_cached: bool = False) -> Answer:
    """Request the bytes at an address from ``begin`` on. Raises ConnectionError without an answer.

    The browser's rules for other origins hold. It shows some headers only if the server allows it.
    """
    options: dict[str, Any] = {"cache": "default" if may_be_cached else "no-store"}
    if begin:
        options["headers"] = {"Range": f"bytes={begin}-"}
    try:
        return Answer(await js.fetch(url, to_object(options)))
    except JsError as error:
        raise ConnectionError(f"{url}: {error}") from None


def kept_folder() -> Path:
    """Return the folder for downloaded files. The notebook stores it in the browser."""
    return Path.home() / "models"


async def load_package(name: str) -> bool:
    """Load a package of Pyodide's lock file. Returns whether it can be imported now."""
    problems: list[str] = []
    note = create_proxy(problems.append)
    try:
        await pyodide_js.loadPackage(name, to_object({"errorCallback": note}))
    except JsException as error:
        problems.append(str(error))
    finally:
        note.destroy()
    importlib.invalidate_caches()
    return not problems


async def load_naga(url: str) -> Any:
    """Return a function that translates SPIR-V bytes to WGSL.

    ``url`` is the address of the ES module naga-wasm.
    """
    load = load_function(
        """async (url) => {
          const naga = await import(new URL(url, globalThis.location?.href).href);
          await naga.init();
          return (proxy) => {
            const buffer = proxy.getBuffer("u8");
            const words = new Uint32Array(buffer.data.slice().buffer);
            buffer.release();
            return naga.translate({ from: "spirv", to: "wgsl", source: words });
          };
        }"""
    )
    return await load(url)


def can_suspend() -> bool:
    """Return whether :func:`suspended` can be called here."""
    return IN_PYODIDE and can_run_sync()


def suspended(awaitable: Any) -> Any:
    """Suspend Python until an awaitable or promise is done, and return its result."""
    return run_sync(awaitable)


def pin(buffer: Any) -> Any:
    """Return a proxy that keeps a Python object alive until ``destroy()`` is called on it."""
    return create_proxy(buffer)


def wgsl_language_features() -> frozenset[str]:
    """Return the WGSL language extensions of the browser."""
    features = getattr(gpu(), "wgslLanguageFeatures", None)
    return frozenset(features) if features is not None else frozenset()


_SETTINGS = """(() => {
  // IndexedDB is shared by the page and its workers. The database is separate from the page's own,
  // whose schemas may change.
  const name = "browsergpu-settings";
  const store = "settings";
  const patience = 20_000; // a busy machine's disk may take seconds
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  /** The result of the request that `work` makes, once the transaction is complete. */
  async function use(mode, work) {
    const opening = indexedDB.open(name);
    opening.onupgradeneeded = () => opening.result.createObjectStore(store);
    const database = await settled(opening);
    database.onversionchange = () => database.close();
    try {
      const transaction = database.transaction(store, mode);
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const request = work(transaction.objectStore(store));
      await done;
      return request.result;
    } finally {
      database.close();
    }
  }
  const read = (key) => use("readonly", (s) => s.get(key));
  const write = (key, text) => use("readwrite", (s) => s.put(text, key));
  const remove = (key) => use("readwrite", (s) => s.delete(key));

  const inTime = (promise) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer")), patience);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
  return {
    read: (key) => inTime(read(key)).catch(() => undefined),
    write: (key, text) => inTime(write(key, text)).then(() => true, () => false),
    remove: (key) => inTime(remove(key)).then(() => true, () => false),
  };
})()"""


async def read_setting(key: str) -> str | None:
    """Return a text that the browser stores for this site, or None.

    None means that there is no such text or no storage.
    """
    value = await load_function(_SETTINGS).read(key)
    return value if isinstance(value, str) else None


async def write_setting(key: str, text: str | None) -> bool:
    """Store a text in the browser for this site, or delete it. Return False without storage."""
    settings = load_function(_SETTINGS)
    return bool(await (settings.remove(key) if text is None else settings.write(key, text)))


def find_canvas(canvas_id: str) -> Any | None:
    """Return the element or OffscreenCanvas with an id, or None.

    A page that runs Python in a worker registers its OffscreenCanvas in the worker's Map
    ``globalThis.browsergpuCanvases``. On the main thread, the id is looked up in the document. A
    canvas gets a ``draw`` event after each image.
    """
    registered = or_none(getattr(js, "browsergpuCanvases", None))
    if registered is not None and registered.has(canvas_id):
        return registered.get(canvas_id)
    document = getattr(js, "document", None)
    return or_none(document.getElementById(canvas_id)) if document is not None else None


def is_canvas(value: Any) -> bool:
    """Return whether a JavaScript object is a canvas on which WebGPU can present."""
    test = """(value) => ["HTMLCanvasElement", "OffscreenCanvas"].some(
        (name) => name in globalThis && value instanceof globalThis[name])"""
    return bool(load_function(test)(value))


_FRAME = """(width, height, text) => {
  const { lines, texts } = JSON.parse(text);
  const canvas = globalThis.OffscreenCanvas
    ? new OffscreenCanvas(width, height)
    : Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width, height);
  context.fillStyle = "#262626";
  for (const line of lines) context.fillRect(...line);
  context.textBaseline = "middle";
  for (const [label, x, y, align, size] of texts) {
    context.font = `${size}px system-ui, sans-serif`;
    context.textAlign = align === "up" ? "center" : align;
    context.save();
    context.translate(x, y + 0.5);
    if (align === "up") context.rotate(-Math.PI / 2);
    context.fillText(label, 0, 0);
    context.restore();
  }
  return new Uint8Array(context.getImageData(0, 0, width, height).data.buffer);
}"""


def paint_frame(height: int, width: int, lines: Any, texts: Any) -> np.ndarray:
    """Return the uint8 RGBA image [height, width, 4] of black rectangles and texts on white.

    See ``functions/images/figures.py`` for ``lines`` and ``texts``.
    """
    described = json.dumps({"lines": lines, "texts": texts})
    pixels = load_function(_FRAME)(width, height, described).to_bytes()
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 4)


def hand_over(name: str, content: bytes) -> bool:
    """Download a file in the browser. Return False in a worker whose page accepts no downloads."""
    offer = """(name, bytes) => {
      if (globalThis.browsergpuDownload) {
        globalThis.browsergpuDownload(name, bytes);
        return true;
      }
      if (!globalThis.document) return false;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([bytes]));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      return true;
    }"""
    return bool(load_function(offer)(name, to_js(content)))


if IN_PYODIDE:
    JsError: type[BaseException] = JsException
else:
    JsError = RuntimeError
