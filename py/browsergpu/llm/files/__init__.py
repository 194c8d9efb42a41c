"""Files of language models."""
