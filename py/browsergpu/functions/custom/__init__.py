"""Custom kernels: operations that users write in WGSL."""
