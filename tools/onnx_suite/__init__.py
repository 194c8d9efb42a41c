"""The node tests and light models of the package onnx, run by ``browsergpu.onnx``."""
