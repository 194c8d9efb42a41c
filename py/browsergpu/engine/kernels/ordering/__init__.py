"""Sorting, searching, scans and selection."""
