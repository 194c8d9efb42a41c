"""Architectures of language models, one file each."""
