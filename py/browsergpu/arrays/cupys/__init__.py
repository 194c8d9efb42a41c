"""Names of CuPy's that NumPy has not, for programs that are moved from it."""
