"""Interfaces of other designs: NumPy, CuPy, the executor, tensor backend and compute backend.

The last three look up and check their operands, and call the functions of ``tensors``.
"""
