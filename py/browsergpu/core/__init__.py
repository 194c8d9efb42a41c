"""What knows of nothing else: errors, dtypes, shapes, grids, names, checks of arguments."""
