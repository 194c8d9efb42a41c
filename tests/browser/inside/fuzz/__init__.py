"""Random valid and invalid calls, and models of them in NumPy."""
