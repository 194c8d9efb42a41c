"""Statistics, with NumPy's parameters."""
