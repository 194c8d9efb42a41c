"""Recording operations for gradients; ``autograd/`` runs the backward pass over them."""
