"""Random calls, good and bad, and models in NumPy of what they do."""
