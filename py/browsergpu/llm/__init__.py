"""Language models: files, quantized weights, tokens and text."""

from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.llm.adapters.lora import LoRA, lora
from browsergpu.llm.encoder import Encoder
from browsergpu.llm.files.gguf import GGUF
from browsergpu.llm.files.gguf_writer import save_gguf
from browsergpu.llm.generation.text import Generation
from browsergpu.llm.language_model import LanguageModel
from browsergpu.llm.loading import load, load_async
from browsergpu.llm.tokens.tokenizer import Tokenizer
from browsergpu.llm.tokens.tokenizer_json import load_tokenizer

__all__ = [
    "GGUF", "Encoder", "Generation", "LanguageModel", "LoRA", "QuantizedArray", "Tokenizer", "load",
    "load_async", "load_tokenizer", "lora", "save_gguf",
]  # fmt: skip
