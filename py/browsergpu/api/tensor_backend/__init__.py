"""52 operations on tensors by handle."""
