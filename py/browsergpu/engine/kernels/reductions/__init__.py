"""Reductions and normalisation of rows."""
