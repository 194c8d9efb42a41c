"""Runs SciPy's Array API tests on GPU arrays."""
