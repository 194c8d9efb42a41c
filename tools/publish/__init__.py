"""Writes the page as static files that work on any host and offline."""
