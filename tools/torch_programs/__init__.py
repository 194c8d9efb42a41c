"""Other people's PyTorch programs, run on browsergpu with only the import replaced."""
