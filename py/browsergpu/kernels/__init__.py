"""Families of kernels: pure functions that add the steps of a problem to a program, and what each
family declares of its kernels, which THE TABLE gathers.
"""
