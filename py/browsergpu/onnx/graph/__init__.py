"""Graphs of ONNX: types, arrays, nodes, and how they run."""
