"""Gradients: the sweep back through what was noted, and the functions that ask for one."""
