"""Files from addresses, which are kept."""
