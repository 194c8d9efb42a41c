"""Arrays that share memory."""
