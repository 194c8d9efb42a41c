"""What networks learn from: samples, and batches of them."""
