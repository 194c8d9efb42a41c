"""Arrays in GPU memory: lazy evaluation, views, indexing, and captured graphs."""
