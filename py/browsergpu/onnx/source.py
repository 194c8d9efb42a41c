"""Loading of models: from paths, bytes, files, addresses and ``onnx.ModelProto``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import file_bytes
from browsergpu.engine.gpu import content, platform
from browsergpu.networks.hub.reports import Report, reporter
from browsergpu.onnx import operators as _operators  # noqa: F401 - fills the registry
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.model import Model
from browsergpu.onnx.wire.reader import read_model

_OP = "onnx.load"
_ADDRESSES = ("http://", "https://")


def load(
    source: Any, /, *, external: Mapping[str, Any] | None = None, device: Any = None,
    progress: Any = False,
) -> Model:  # fmt: skip
    """Load an ONNX model to the GPU.

    Parameters
    ----------
    source : path, address, bytes, file object or onnx.ModelProto
        The model. A path is memory-mapped. An address starts with "https://" or "http://".
    external : mapping, optional
        Files of external data by the name that the model gives them, as paths, addresses or bytes.
        By default, they are read from the model's folder. For an address, they must be named here.
    device : optional
        The device for the weights. The default device if None.
    progress : bool or callable, optional
        True shows a bar. A function is called as ``progress(done, total, what)`` with bytes.
        ``what`` is the file's name while it is fetched, then "weights". ``total`` is None if the
        server does not tell it.

    Returns
    -------
    Model
        A module. It is called with arrays, and returns arrays.

    Raises
    ------
    InvalidArgument
        If the file is malformed, or an array does not have the size that its shape requires.
    InvalidType
        If ``progress`` is neither a bool nor a function, or ``source`` is no file.
    Unsupported
        If operators are missing. The message lists them with their nodes. Or if Python cannot block
        to wait for an address: use :func:`load_async`.
    OSError
        If an address cannot be fetched.

    Notes
    -----
    Weights go to the GPU one at a time, from the memory of the file. float64 becomes float32.
    Natively, a path is memory-mapped, and an address is fetched to a temporary file. In a page,
    the file is in Python's memory once, until the weights are on the GPU.

    Examples
    --------
    >>> model = bg.onnx.load(bg.onnx.export(bg.nn.Linear(3, 2), bg.ones((1, 3))))
    >>> model(bg.zeros((5, 3))).shape
    (5, 2)
    """
    given = _checked(external)
    report = reporter(_OP, progress)
    if any(map(_is_address, (source, *given.values()))):
        return platform.block_on(_load(source, given, device, report), _OP)
    return _loaded(source, given, device, report)


async def load_async(
    source: Any, /, *, external: Mapping[str, Any] | None = None, device: Any = None,
    progress: Any = False,
) -> Model:  # fmt: skip
    """Load a model, as :func:`load` does. Other tasks run while files are fetched."""
    return await _load(source, _checked(external), device, reporter(_OP, progress))


async def _load(source: Any, external: dict[str, Any], device: Any, report: Report) -> Model:
    given = {name: await _fetched(one, report) for name, one in external.items()}
    return _loaded(await _fetched(source, report), given, device, report)


def _checked(external: Any) -> dict[str, Any]:
    if external is not None and not isinstance(external, Mapping):
        raise InvalidType(_OP, "external", external, "a dict of files by name")
    return dict(external or {})


def _is_address(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(_ADDRESSES)


async def _fetched(source: Any, report: Report) -> Any:
    if not _is_address(source):
        return source
    name = urlsplit(source).path.rsplit("/", 1)[-1] or source
    return await content.fetch(source, lambda done, total: report(done, total, name))


def _loaded(source: Any, external: dict[str, Any], device: Any, report: Report) -> Model:
    folder = None
    data = source
    if hasattr(source, "SerializeToString"):
        data = source.SerializeToString()
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if not os.path.isfile(path):
            advice = "In a page, files are those of Python's file system."
            raise InvalidArgument(_OP, "source", path, "an existing file", advice)
        folder = os.path.dirname(os.path.abspath(path))
    raw = file_bytes(_OP, "source", data)
    message = read_model(memoryview(raw))  # type: ignore[arg-type]
    return Model(message, ExternalData(folder, external), device, report)
