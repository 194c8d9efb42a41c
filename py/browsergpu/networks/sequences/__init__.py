"""Sequences of different lengths in one array."""
