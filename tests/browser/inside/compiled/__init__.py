"""Compiled functions: ``browsergpu.jit``."""
