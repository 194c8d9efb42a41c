"""Shapes, indices, sorting, sampling, signals and control flow."""
