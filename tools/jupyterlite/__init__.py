"""Builds a JupyterLite site that has browsergpu in it: docs/jupyterlite.md."""
