"""Profiles, tuning, groups of backends, and downloads."""
