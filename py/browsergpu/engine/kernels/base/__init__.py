"""Declarations and builders that all kernel families share."""
