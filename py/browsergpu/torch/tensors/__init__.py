"""The class of tensors, and PyTorch's functions of them."""
