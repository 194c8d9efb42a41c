"""Pictures: arrays of [H, W] or [H, W, C]."""
