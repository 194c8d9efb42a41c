"""ONNX models on the GPU: ``bg.onnx.load(path)``, and ``bg.onnx.export`` for networks built here.

Every node runs on the GPU. Shapes, and what derives from them, are computed on the host.
"""

from browsergpu.onnx.export.exporting import export
from browsergpu.onnx.model import Explanation, Model, Value
from browsergpu.onnx.registry import Operator, list_operators, operator
from browsergpu.onnx.source import load, load_async

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
