"""Factorizations of dense matrices."""
