"""Random arrays: streams of numbers, and the distributions that are drawn from them."""
