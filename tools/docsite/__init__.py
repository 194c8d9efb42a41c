"""Builds the documentation site: docs/ and the API reference, with MkDocs."""
