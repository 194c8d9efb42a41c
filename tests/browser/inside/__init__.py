"""Tests that run inside Pyodide, on the real GPU. The host runs them one by one: see
harness/inside.py. Nothing here may import `js` or `pyodide` at the top, since the host collects
these files too."""
