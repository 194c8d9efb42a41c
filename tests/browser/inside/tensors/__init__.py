"""Tests of TensorBackend, inside Pyodide."""
