"""Writes the page as static files, which work on any host and offline."""
