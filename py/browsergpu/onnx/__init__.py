"""ONNX models on the GPU: ``bg.onnx.load(path)``, and ``bg.onnx.export`` for networks built here.

Every node runs on the GPU. Shapes, and what derives from them, are computed on the host.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from browsergpu.onnx.model import Explanation, Model, Value
from browsergpu.onnx.registry import Operator, list_operators, operator
from browsergpu.onnx.source import load, load_async

if _TYPE_CHECKING:  # imported at its first use
    from browsergpu.onnx.exporter.exporting import export

__all__ = [
    "Explanation",
    "Model",
    "Operator",
    "Value",
    "export",
    "list_operators",
    "load",
    "load_async",
    "operator",
]


def __getattr__(name: str) -> _Any:
    if name != "export":
        raise AttributeError(f"module 'browsergpu.onnx' has no attribute {name!r}")
    from browsergpu.onnx.exporter.exporting import export

    globals()[name] = export
    return export


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
