"""Sorting, searching, running sums and selection."""
