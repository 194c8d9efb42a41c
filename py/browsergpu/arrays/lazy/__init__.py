"""Values that are not computed yet: a tracer of operations for each shape, and its evaluation."""
