"""Layers with the names, arguments and parameter layouts of PyTorch."""
