"""Language models: files, quantized weights, tokens and text."""

from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.llm.files.gguf import GGUF
from browsergpu.llm.files.gguf_writer import save_gguf

__all__ = ["GGUF", "QuantizedArray", "save_gguf"]
