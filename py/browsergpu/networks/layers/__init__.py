"""The layers, by PyTorch's names: their arguments, the names and layouts of what they learn."""
