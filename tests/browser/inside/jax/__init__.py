"""Tests of ``browsergpu.jax``."""
