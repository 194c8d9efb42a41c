"""Drawn calls of every function that has a gradient, and what their gradients are compared with."""
