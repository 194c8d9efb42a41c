"""Constraints of generated texts: regular expressions and JSON schemas, as automata of bytes."""
