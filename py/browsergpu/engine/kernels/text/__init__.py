"""WGSL files: loading, joining and parsing of declarations."""
