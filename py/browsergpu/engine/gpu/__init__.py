"""GPU access: the port that drives a GPU, programs, buffer memory and the platform.

``port`` declares the interface to one GPU, and ``browser`` and ``native`` implement it. ``program``
describes the steps that run on a GPU. ``platform`` imports the browser or the native functions.
Packages above this one do not know which implementation runs.
"""
