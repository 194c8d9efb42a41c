"""What neural networks are made of, by the names of torch.nn.functional."""
