"""Values that are not computed yet: a tape of operations for each shape, and its evaluation."""
