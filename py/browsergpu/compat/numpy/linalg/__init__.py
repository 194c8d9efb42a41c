"""Linear algebra, polynomials and signal functions, with NumPy's parameters."""
