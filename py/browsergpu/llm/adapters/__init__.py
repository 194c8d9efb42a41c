"""Adapters: small matrices that are trained beside frozen weights."""
