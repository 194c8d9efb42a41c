"""Kernels of quantized weights, in the formats of GGUF files."""
