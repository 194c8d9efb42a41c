"""Further loss functions, and the distances that they measure."""
