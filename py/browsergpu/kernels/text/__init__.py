"""WGSL files: loading, joining and reading their declarations."""
