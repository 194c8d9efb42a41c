"""Text from models: sampling, decoding and streams."""
