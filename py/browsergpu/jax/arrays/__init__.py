"""The array class of ``browsergpu.jax``, and its dtypes."""
