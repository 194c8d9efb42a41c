"""Convolution and pooling."""
