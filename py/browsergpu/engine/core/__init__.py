"""Utilities without dependencies in the package: errors, dtypes, shapes, grids, argument checks."""
