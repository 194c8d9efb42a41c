"""Training data: datasets and batches."""
