"""Translation of C for one element, as in CuPy's kernels, to WGSL."""
