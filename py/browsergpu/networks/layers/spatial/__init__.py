"""Layers that pad, resample and rearrange elements."""
