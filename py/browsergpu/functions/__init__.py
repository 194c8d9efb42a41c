"""Public functions of arrays, grouped as in the Python Array API standard."""
