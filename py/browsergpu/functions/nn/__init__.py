"""Functions of neural networks, named as in ``torch.nn.functional``."""
