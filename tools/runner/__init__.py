"""Implementation of tests/run.py, with the standard library and devsite only."""
