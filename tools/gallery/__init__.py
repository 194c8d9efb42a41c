"""Runs the gallery's notebooks in the page, and saves their outputs and pictures."""
