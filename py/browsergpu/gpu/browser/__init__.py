"""WebGPU through Pyodide: the only place that imports ``js`` and ``pyodide``."""
