"""Tests of browsergpu.onnx."""
