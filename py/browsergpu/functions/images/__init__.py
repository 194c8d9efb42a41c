"""Filters and resizing of images, arrays of shape [H, W] or [H, W, C]."""
