"""Arrays to and from files, other libraries and the page."""
