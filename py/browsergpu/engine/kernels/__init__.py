"""Kernel families.

Each family has pure functions that add the steps of an operation to a program, and a declaration of
its kernels. ``table.py`` gathers the declarations in THE TABLE.
"""
