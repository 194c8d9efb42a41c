"""Factorisations of dense matrices."""
