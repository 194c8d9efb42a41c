"""array-api-extra's own tests, run with browsergpu as the only backend."""
