"""Builds a JupyterLite site that includes browsergpu: docs/jupyterlite.md."""
