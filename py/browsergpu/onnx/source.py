"""Loading of models: from paths, bytes, files, addresses and ``onnx.ModelProto``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.files import file_bytes
from browsergpu.onnx import operators as _operators  # noqa: F401 - fills the registry
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.model import Model
from browsergpu.onnx.wire.reader import read_model


def load(source: Any, /, *, external: Mapping[str, Any] | None = None, device: Any = None) -> Model:
    """Load an ONNX model to the GPU.

    Parameters
    ----------
    source : path, bytes, file object or onnx.ModelProto
        The model. A path is memory-mapped.
    external : mapping, optional
        Files of external data by the name that the model gives them, as paths or bytes. By default,
        they are read from the model's folder.
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
        If operators are missing. The message lists them with their nodes.

    Notes
    -----
    Weights go to the GPU one at a time, from the memory of the file. float64 becomes float32.

    Examples
    --------
    >>> model = bg.onnx.load(bg.onnx.export(bg.nn.Linear(3, 2), bg.ones((1, 3))))
    >>> model(bg.zeros((5, 3))).shape
    (5, 2)
    """
    op = "onnx.load"
    folder = None
    if external is not None and not isinstance(external, Mapping):
        raise InvalidType(op, "external", external, "a dict of files by name")
    if hasattr(source, "SerializeToString"):
        data = source.SerializeToString()
    else:
        data = source
        if isinstance(source, str | os.PathLike):
            path = os.fspath(source)
            if not os.path.isfile(path):
                advice = "In a page, files are those of Python's file system."
                raise InvalidArgument(op, "source", path, "an existing file", advice)
            folder = os.path.dirname(os.path.abspath(path))
    raw = file_bytes(op, "source", data)
    return Model(read_model(memoryview(raw)), ExternalData(folder, external), device)  # type: ignore[arg-type]
