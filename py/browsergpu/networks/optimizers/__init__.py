"""What changes parameters by their gradients, by PyTorch's names."""
