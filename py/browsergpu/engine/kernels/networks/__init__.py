"""Attention, embeddings, Adam and image filters."""
