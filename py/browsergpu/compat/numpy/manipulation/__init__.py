"""Array manipulation and indexing, with NumPy's parameters."""
