"""What is noted of operations while gradients are wanted: ``array/gradients/`` goes through it."""
