"""Arrays in GPU memory and what is computed of them, once for all that call it."""
