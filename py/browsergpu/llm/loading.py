"""Loading of language models from files."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.context import current
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument
from browsergpu.llm.files.gguf import GGUF
from browsergpu.llm.language_model import LanguageModel
from browsergpu.llm.models.architectures import decoder_of
from browsergpu.llm.models.config import architecture_of, config_of
from browsergpu.llm.models.weights import Weights
from browsergpu.llm.tokens.gguf_vocabulary import from_gguf

_OP = "llm.load"
#: The default context, unless the model's is smaller.
_CONTEXT = 4096


def load(file: Any, *, context: int | None = None, device: Any = None) -> LanguageModel:
    """Load a language model from a GGUF file. Blocks.

    Parameters
    ----------
    file : path, bytes, file object or GGUF
        The file, of an architecture in ``docs/llm.md``.
    context : int, optional
        The most tokens of a prompt and its text, for which memory is reserved. By default 4096, or
        the model's context if it is smaller.
    device : Device, optional
        The device. The current device by default.

    Returns
    -------
    LanguageModel
        The model on the GPU.

    Raises
    ------
    InvalidArgument
        If the file is malformed.
    Unsupported
        If the architecture, the tokenizer or a tensor's format is not supported.
    """
    source = file if isinstance(file, GGUF) else GGUF(file, device)
    own = current(device).device
    make = decoder_of(architecture_of(source.metadata))
    config = config_of(source.metadata)
    size = min(_CONTEXT, config.context) if context is None else context
    size = checks.integer(_OP, "context", size, 1)
    if size > config.context:
        expected = f"at most {config.context}, as the model's"
        raise InvalidArgument(_OP, "context", context, expected)
    tokenizer = from_gguf(source.metadata)
    weights = Weights(source, own)
    model = make(weights, config, size)
    weights.finish()
    if model.vocabulary > len(tokenizer.tokens):
        expected = f"{model.vocabulary} tokens, as the embeddings have"
        raise InvalidArgument(_OP, "tokenizer.ggml.tokens", len(tokenizer.tokens), expected)
    metadata = source.metadata
    names = ("eos_token_id", "eot_token_id", "eom_token_id")
    found = [metadata.get(f"tokenizer.ggml.{name}") for name in names]
    ends = [one for one in found if isinstance(one, int)]
    variables = {}
    for name in ("bos", "eos", "pad", "unk"):
        key = {"pad": "padding", "unk": "unknown"}.get(name, name)
        id = metadata.get(f"tokenizer.ggml.{key}_token_id")
        if isinstance(id, int) and 0 <= id < len(tokenizer.tokens):
            variables[f"{name}_token"] = tokenizer.tokens[id]
    template = metadata.get("tokenizer.chat_template")
    return LanguageModel(
        model, config, tokenizer, size, own, template if isinstance(template, str) else None, ends,
        variables,
    )  # fmt: skip
