"""C of one element, as CuPy's kernels have it, to WGSL."""
