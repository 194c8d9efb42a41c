"""JAX's own examples and snippets of code, compared between JAX and ``browsergpu.jax``."""
