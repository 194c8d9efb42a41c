"""Indexing: keys, index arrays, masks, and assignment to regions."""
