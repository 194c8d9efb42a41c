"""Products, equations and polynomials, with NumPy's arguments."""
