"""The public functions on arrays, by the chapters of the Python Array API standard."""
