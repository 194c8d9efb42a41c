"""Functions for language models: quantized weights, rotary embeddings, cached attention."""
