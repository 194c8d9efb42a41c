"""The files of networks."""
