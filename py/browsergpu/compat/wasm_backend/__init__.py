"""The compute backend: BLAS-style calls on pointers."""
