"""Names that CuPy has and NumPy has not, for programs that are moved from CuPy."""
