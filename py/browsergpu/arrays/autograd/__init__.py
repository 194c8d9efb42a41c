"""Operations recorded for gradients. The package ``autograd`` runs the backward pass over them."""
