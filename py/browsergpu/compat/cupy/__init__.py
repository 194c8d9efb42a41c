"""Functions of CuPy that NumPy does not have, for programs ported from CuPy."""
