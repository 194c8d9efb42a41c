"""A backend of 52 operations on tensors by handle."""
