"""Learning rate schedulers. ``browsergpu.optim.lr_scheduler`` has their names."""
