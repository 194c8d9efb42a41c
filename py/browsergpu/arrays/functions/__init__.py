"""The functions of arrays that the Python Array API standard has, by its chapters."""
