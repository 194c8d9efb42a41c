"""Automatic differentiation: the backward pass, and functions that compute gradients."""
