"""Records of the package's WebGPU calls and their arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SPY = """(type, methods) => {
  const seen = [];
  const originals = {};
  for (const method of methods) {
    const original = originals[method] = type.prototype[method];
    type.prototype[method] = function (...args) {
      seen.push([method, args]);
      return original.apply(this, args);
    };
  }
  return {
    stop: () => Object.assign(type.prototype, originals),
    // A descriptor's plain parts; JSON keeps nothing of the GPU objects in it.
    seen: () => JSON.stringify(seen),
  };
}"""


class Calls:
    """The recorded calls: pairs of a method's name and its arguments as plain data."""

    def __init__(self) -> None:
        self.all: list[tuple[str, list[Any]]] = []

    def of(self, method: str) -> list[Any]:
        """Return the first argument of each call of one method."""
        return [arguments[0] for name, arguments in self.all if name == method]


@contextmanager
def watched(type_name: str, *methods: str) -> Iterator[Calls]:
    """Record the calls of some methods of a WebGPU class; complete when the block has ended."""
    import js
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    calls = Calls()
    spy = run_js(_SPY)(getattr(js, type_name), to_js(list(methods)))
    try:
        yield calls
    finally:
        spy.stop()
        calls.all = [(name, arguments) for name, arguments in json.loads(spy.seen())]


@contextmanager
def dispatched(device: Any) -> Iterator[list[str]]:
    """Record the names of the kernels that a device dispatches, in order.

    Generated kernels have the name "fused", and custom kernels "custom".
    """
    kernels: list[str] = []

    def note(pipeline: Any, _fields: tuple[float, ...]) -> None:
        kernels.append(pipeline.kernel or "custom")

    device.recorder.observers.append(note)
    try:
        yield kernels
    finally:
        device.recorder.observers.remove(note)
