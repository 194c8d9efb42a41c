"""Functions of views for language models."""
