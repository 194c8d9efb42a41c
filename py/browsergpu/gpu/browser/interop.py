"""The only module that imports ``js`` and ``pyodide``: everything above it also runs on the host.

Where there is no Pyodide, ``IN_PYODIDE`` is false and :func:`gpu` returns None; the other
functions must not be called.
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

from browsergpu.core.errors import Unsupported

try:
    import js
    from pyodide.code import run_js
    from pyodide.ffi import JsException, can_run_sync, create_proxy, jsnull, run_sync, to_js

    IN_PYODIDE = True
except ImportError:
    IN_PYODIDE = False

T = TypeVar("T")


def gpu() -> Any | None:
    """``navigator.gpu``, or None outside a browser that has WebGPU."""
    if not IN_PYODIDE:
        return None
    return or_none(getattr(getattr(js, "navigator", None), "gpu", None))


def or_none(value: Any) -> Any | None:
    """None for JavaScript's null, which Pyodide tells from undefined (its None)."""
    return None if value is jsnull else value


def why_no_gpu() -> str:
    """Why :func:`gpu` is None, and what to do."""
    if not IN_PYODIDE:
        return (
            "there is no WebGPU outside a browser; run this in a page through Pyodide "
            "(python3 serve.py opens one)"
        )
    if not getattr(js, "isSecureContext", True):
        return "WebGPU needs a secure page: serve it over https or from localhost"
    return (
        "this browser has no WebGPU here (navigator.gpu is missing); use Chrome or Edge 137+, "
        "Firefox 153+ or Safari 27+, and check that hardware acceleration is on"
    )


#: The operations that wait in :func:`block_on`.
_waits: list[str] = []


def are_waiting() -> bool:
    """Whether a task waits in :func:`block_on`, amid an operation, while this one runs."""
    return bool(_waits)


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Waits for a coroutine from plain Python, by JavaScript promise integration (JSPI).

    Raises Unsupported where Python cannot block: no JSPI in the browser, or Python was entered by a
    synchronous call such as ``runPython``. The error names what to use ``instead``, unless told the
    ``_async`` twin.
    """
    if not can_block():
        coroutine.close()
        raise Unsupported(
            op,
            f"cannot block here; use {instead or f'`await {op}_async(...)`'}. Blocking needs a "
            "browser with JSPI (Chrome 137+, Firefox 153+, Safari 27+) and Python entered by "
            "runPythonAsync",
        )
    values: list[T] = []
    errors: list[BaseException] = []
    _waits.append(op)
    try:
        run_sync(_collect(coroutine, values, errors))
    finally:
        _waits.remove(op)
    if errors:
        raise errors.pop()  # not to be held by this frame, which its traceback holds
    return values[0]


async def _collect(
    coroutine: Coroutine[Any, Any, T], values: list[T], errors: list[BaseException]
) -> None:
    """Nothing passes through run_sync: JavaScript would hold a result, and all that an exception's
    traceback refers to, until it collects its garbage; of an exception it never lets go."""
    try:
        values.append(await coroutine)
    except BaseException as error:
        errors.append(error)


def to_object(value: dict[str, Any]) -> Any:
    """A plain JavaScript object with the dict's entries, nested ones too."""
    return to_js(value, dict_converter=js.Object.fromEntries)


def limits(limits: Any) -> dict[str, int]:
    """A GPUSupportedLimits as a dict."""
    return {name: int(getattr(limits, name)) for name in dir(limits) if name[:3] in ("max", "min")}


def can_block() -> bool:
    """Whether :func:`block_on` can wait here."""
    return IN_PYODIDE and can_run_sync()


@cache
def load_function(source: str) -> Any:
    """What JavaScript ``source`` evaluates to: a function, or an object of them. Evaluated once."""
    return run_js(source)


def global_text(name: str) -> str | None:
    """A string on JavaScript's globalThis, or None."""
    value = getattr(js, name, None)
    return value if isinstance(value, str) else None


async def load_naga(url: str) -> Any:
    """A function from SPIR-V bytes to WGSL, from the ES module naga-wasm at ``url``."""
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


def pin(buffer: Any) -> Any:
    """A proxy that keeps a Python object alive for JavaScript until its ``destroy()``."""
    return create_proxy(buffer)


def wgsl_language_features() -> frozenset[str]:
    """What the browser's WGSL can do beyond the base language."""
    features = getattr(gpu(), "wgslLanguageFeatures", None)
    return frozenset(features) if features is not None else frozenset()


_SETTINGS = """(() => {
  // IndexedDB, since workers have it too and see what the page has stored. The page may have other
  // databases, and changes their schemas as it likes.
  const name = "browsergpu-settings";
  const store = "settings";
  const patience = 20_000; // a busy machine's disk may take seconds
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  /** The result of the request that `work` makes of the store, once it is kept. */
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
    """A text that the browser keeps for this site, or None where there is none or no storage."""
    value = await load_function(_SETTINGS).read(key)
    return value if isinstance(value, str) else None


async def write_setting(key: str, text: str | None) -> bool:
    """Lets the browser keep a text for this site, or forget it. False where it has no storage."""
    settings = load_function(_SETTINGS)
    return bool(await (settings.remove(key) if text is None else settings.write(key, text)))


def find_canvas(canvas_id: str) -> Any | None:
    """The element or OffscreenCanvas known under an id, or None.

    A page that runs Python in a worker registers its OffscreenCanvas there, in the Map
    ``globalThis.browsergpuCanvases``; on the main thread the document is asked. A canvas gets an
    event ``draw`` after each picture.
    """
    registered = or_none(getattr(js, "browsergpuCanvases", None))
    if registered is not None and registered.has(canvas_id):
        return registered.get(canvas_id)
    document = getattr(js, "document", None)
    return or_none(document.getElementById(canvas_id)) if document is not None else None


def is_canvas(value: Any) -> bool:
    """Whether a JavaScript object is a canvas that WebGPU can present on."""
    test = """(value) => ["HTMLCanvasElement", "OffscreenCanvas"].some(
        (name) => name in globalThis && value instanceof globalThis[name])"""
    return bool(load_function(test)(value))


def hand_over(name: str, content: bytes) -> bool:
    """Hands a file to the browser's downloads. False in a worker whose page takes none."""
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
