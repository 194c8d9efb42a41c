"""Layers of networks, attention, losses and optimizers."""
