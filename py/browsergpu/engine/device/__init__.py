"""A GPU device: its properties, memory, compiled kernels and cached programs."""
