"""Builds the documentation site from docs/ and the API reference, with MkDocs."""
