"""Files of network weights and checkpoints."""
