"""Lazy evaluation: a trace of operations for each result shape, and its fused kernels."""
