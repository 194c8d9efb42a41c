"""Generators of WGSL kernels for traces of elementwise operations."""
