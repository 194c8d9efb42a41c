"""Functions of single elements, casts, reductions, random numbers and quantization."""
