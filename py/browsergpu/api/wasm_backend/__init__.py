"""ComputeBackend: BLAS-style calls on pointers."""
