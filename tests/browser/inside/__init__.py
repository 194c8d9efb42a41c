"""Tests that run inside Pyodide, on WebGPU. The host runs them one by one: see harness/inside.py.

No module here may import `js` or `pyodide` at module level, because the host also collects the
files.
"""
