"""Conversion of arrays to and from files, other libraries and the page."""
