"""Matrix products and convolutions, which captured blocks dispatch when needed."""
