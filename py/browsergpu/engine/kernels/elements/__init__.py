"""Elementwise functions, casts, copies and random words."""
