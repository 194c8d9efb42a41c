"""Interfaces of other libraries: NumPy and CuPy."""
