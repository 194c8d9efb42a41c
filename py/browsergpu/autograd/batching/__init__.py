"""``vmap``: functions of batched arrays."""
