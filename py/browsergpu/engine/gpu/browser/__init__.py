"""WebGPU through Pyodide. No other package imports ``js`` or ``pyodide``."""
