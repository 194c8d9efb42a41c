"""Statistics, with NumPy's arguments."""
