"""Operators of onnxruntime's domain ``com.microsoft``, which optimised transformers use."""

DOMAIN = "com.microsoft"
