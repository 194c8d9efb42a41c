"""What tests/run.py is made of; the standard library and devsite only."""
