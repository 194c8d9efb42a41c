"""Parts of arrays: index keys, gathers, scatters and assignment."""
