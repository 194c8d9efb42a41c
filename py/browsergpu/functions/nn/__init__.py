"""Functions of neural networks, by the names of torch.nn.functional."""
