"""Random streams, and arrays drawn from distributions."""
