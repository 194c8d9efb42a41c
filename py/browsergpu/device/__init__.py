"""A GPU in use: its facts, its memory, its compiled kernels, and the programs that it remembers."""
