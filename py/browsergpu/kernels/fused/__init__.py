"""Elementwise kernels that are generated: from a tape of operations to one WGSL source."""
