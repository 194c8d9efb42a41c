"""From checked arguments and buffers to dispatches: one module per family of kernels.

Nothing here checks its arguments; who calls it has done so. Nothing waits for the GPU.
"""
