"""Compiled functions (``browsergpu.jit``): calls that replay captured graphs."""
