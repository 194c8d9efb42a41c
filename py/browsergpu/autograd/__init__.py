"""The backward pass through recorded operations, and the functions that ask for gradients."""
