"""Filters and resizing of images: arrays of [H, W] or [H, W, C]."""
