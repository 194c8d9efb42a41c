"""Loading of models: from paths, bytes, files, addresses and ``onnx.ModelProto``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.files import file_bytes
from browsergpu.gpu import platform
from browsergpu.onnx import operators as _operators  # noqa: F401 - fills the registry
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.model import Model
from browsergpu.onnx.wire.reader import read_model

_OP = "onnx.load"
_ADDRESSES = ("http://", "https://")


def load(source: Any, /, *, external: Mapping[str, Any] | None = None, device: Any = None) -> Model:
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

    Returns
    -------
    Model
        A module. It is called with arrays, and returns arrays.

    Raises
    ------
    InvalidArgument
        If the file is malformed, or an array does not have the size that its shape requires.
    Unsupported
        If operators are missing. The message lists them with their nodes. Or if Python cannot block
        to wait for an address: use :func:`load_async`.
    OSError
        If an address cannot be fetched.

    Notes
    -----
    Weights go to the GPU one at a time, from the memory of the file. float64 becomes float32.

    Examples
    --------
    >>> model = bg.onnx.load(bg.onnx.export(bg.nn.Linear(3, 2), bg.ones((1, 3))))
    >>> model(bg.zeros((5, 3))).shape
    (5, 2)
    """
    given = _checked(external)
    if any(map(_is_address, (source, *given.values()))):
        loading = load_async(source, external=external, device=device)
        return platform.block_on(loading, _OP)
    return _loaded(source, given, device)


async def load_async(
    source: Any, /, *, external: Mapping[str, Any] | None = None, device: Any = None
) -> Model:
    """Load a model, as :func:`load` does, without blocking while addresses are fetched."""
    given = {name: await _fetched(one) for name, one in _checked(external).items()}
    return _loaded(await _fetched(source), given, device)


def _checked(external: Any) -> dict[str, Any]:
    if external is not None and not isinstance(external, Mapping):
        raise InvalidType(_OP, "external", external, "a dict of files by name")
    return dict(external or {})


def _is_address(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(_ADDRESSES)


async def _fetched(source: Any) -> Any:
    return await platform.fetch(source) if _is_address(source) else source


def _loaded(source: Any, external: dict[str, Any], device: Any) -> Model:
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
    return Model(read_model(memoryview(raw)), ExternalData(folder, external), device)  # type: ignore[arg-type]
