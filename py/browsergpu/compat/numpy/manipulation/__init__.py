"""Shapes, axes, indices and parts, with NumPy's arguments."""
