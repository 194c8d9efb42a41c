"""What every family of kernels is declared and built with."""
