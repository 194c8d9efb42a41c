"""Custom kernels that users write in WGSL or C."""
