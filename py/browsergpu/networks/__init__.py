"""Neural networks: modules, layers, optimizers, data loading and files."""
