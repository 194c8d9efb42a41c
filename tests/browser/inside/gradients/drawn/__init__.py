"""Generated calls of every function with a gradient, and the expected gradients."""
