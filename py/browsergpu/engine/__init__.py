"""The engine below arrays: GPUs, kernels, and functions of strided views of buffers."""
