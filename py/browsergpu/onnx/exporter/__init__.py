"""Export of networks built here to ONNX files."""
