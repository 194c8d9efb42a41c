"""The OpenAI-compatible HTTP interface, with Python's standard library."""
