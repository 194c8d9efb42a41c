"""Names of other libraries, with their meaning."""
