"""The methods of TensorBackend by subject, each on top of the store of tensors."""
