"""Functions of strided tensors in GPU memory: what arrays and the older interfaces compute with."""
