"""Tests that run inside Pyodide, on WebGPU. The host runs them one by one: see harness/inside.py.

No module here may import `js` or `pyodide` at its top, because the host collects the files too.
"""
