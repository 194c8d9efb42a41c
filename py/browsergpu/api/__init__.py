"""Older interfaces: executor, tensor backend and compute backend.

They look up and check their operands, and call the functions of ``tensors``.
"""
