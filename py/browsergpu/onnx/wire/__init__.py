"""Protocol buffers: a reader and a writer of ONNX's messages."""
