"""Arrays in files beside a model: ``.onnx_data``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.files import file_bytes
from browsergpu.engine.core.showing import Description, Shown, byte_count
from browsergpu.onnx.wire.messages import Entry


class ExternalData(Shown):
    """The files beside a model.

    Paths are memory-mapped, so that only the bytes of one array at a time are read.

    Parameters
    ----------
    folder : str, optional
        The model's folder. Files outside of it are refused.
    given : mapping, optional
        Files by name, as paths or bytes, which come before the folder's.
    """

    def __init__(self, folder: str | None = None, given: Mapping[str, Any] | None = None) -> None:
        self._folder = folder
        self._given = dict(given or {})
        self._open: dict[str, np.ndarray] = {}

    def _facts(self) -> str:
        return f"of {self._folder or 'no folder'}"

    def read(self, entries: Sequence[Entry], size: int, where: str) -> memoryview:
        """Return ``size`` bytes, at the place that a tensor's entries name."""
        found = {entry.key: entry.value for entry in entries}
        location = found.get("location", "")
        offset = _number(found.get("offset", "0"), where, "offset")
        length = _number(found.get("length", str(size)), where, "length")
        data = self._file(location, where)
        if length != size:
            raise _refused(where, f"{byte_count(length)}", f"an array of {byte_count(size)}")
        if offset + size > len(data):
            actual = f"{byte_count(len(data))} in {location!r}"
            expected = f"an array in a file of at least {byte_count(offset + size)}"
            raise _refused(where, actual, expected)
        return memoryview(data[offset : offset + size])  # type: ignore[arg-type]

    def _file(self, location: str, where: str) -> np.ndarray:
        if location not in self._open:
            self._open[location] = self._opened(location, where)
        return self._open[location]

    def _opened(self, location: str, where: str) -> np.ndarray:
        if location in self._given:
            return file_bytes("onnx.load", f"external[{location!r}]", self._given[location])
        parts = location.replace("\\", "/").split("/")
        is_outside = os.path.isabs(location) or ".." in parts or ":" in parts[0]
        if not location or is_outside:
            raise _refused(where, f"the file {location!r}", "an array in the model's folder")
        if self._folder is None:
            actual = f"in the file {location!r}"
            expected = "in a file of the argument external"
            raise _refused(where, actual, expected)
        folder = os.path.realpath(self._folder)
        path = os.path.realpath(os.path.join(folder, *parts))
        if os.path.commonpath([folder, path]) != folder:
            actual = f"the link {location!r}, which leads out of it"
            raise _refused(where, actual, "an array in the model's folder")
        if not os.path.isfile(path):
            actual = f"no file {location!r} in {folder}"
            raise _refused(where, actual, "an array in a file beside the model")
        return file_bytes("onnx.load", where, path)


def _number(text: str, where: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 20:
        raise _refused(where, f"the {name} {text!r}", f"an array whose {name} is at least 0")
    return int(text)


def _refused(where: str, actual: str, expected: str) -> InvalidArgument:
    return InvalidArgument("onnx.load", where, Description(actual), expected)
