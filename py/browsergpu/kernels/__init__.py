"""Families of kernels: THE TABLE of them, their variants and costs, and pure functions that add the
steps of a problem to a program.
"""
