"""Loading of language models from files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from browsergpu.arrays.context import current
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.llm.encoder import Encoder
from browsergpu.llm.files.folder import ModelFolder
from browsergpu.llm.files.gguf import GGUF
from browsergpu.llm.files.remote_folder import (
    downloaded_folder,
    downloaded_folder_async,
    is_folder,
)
from browsergpu.llm.language_model import LanguageModel
from browsergpu.llm.models.architectures import DECODERS, ENCODERS, check_architecture
from browsergpu.llm.models.bert import Bert
from browsergpu.llm.models.cache import DTYPES, check_dtype
from browsergpu.llm.models.config import Config, architecture_of, config_of
from browsergpu.llm.models.weights import Tensors, Weights
from browsergpu.llm.tokens.gguf_vocabulary import from_gguf
from browsergpu.llm.tokens.tokenizer import Tokenizer
from browsergpu.llm.tokens.tokenizer_json import load_tokenizer
from browsergpu.networks.hub.download import download, download_async, is_address
from browsergpu.networks.hub.reports import Report, reporter

_OP = "llm.load"
#: The default context, unless the model's is smaller.
_CONTEXT = 4096
#: bert.pooling_type of GGUF for the first token's state.
_POOLS_FIRST = 2


def load(
    file: Any, *, context: int | None = None, cache_dtype: Any = "float32", device: Any = None,
    progress: bool | Report = False,
) -> LanguageModel | Encoder:  # fmt: skip
    """Load a language model from a GGUF file, or from a folder with safetensors. Blocks.

    Parameters
    ----------
    file : path, address, bytes, file object or GGUF
        A GGUF file, or the path of a folder with config.json, tokenizer.json and safetensors. An
        address starts with "https://" or "http://". Its file is downloaded by
        :func:`browsergpu.hub.download`, which keeps it. An address that ends with "/" is one of a
        folder, whose files are downloaded.
    context : int, optional
        The most tokens of a prompt and its text, for which memory is reserved. By default 4096, or
        the model's context if it is smaller.
    cache_dtype : str or dtype
        The type of the cached keys and values: ``"float32"``, or ``"int8"`` for 28 % of the memory.
        Each 32 numbers in 8 bits have a factor. With SmolLM2, logits changed by up to 4 % of the
        largest one. Encoders have no cache.
    device : Device, optional
        The device. The current device by default.
    progress : bool or callable
        As for :func:`browsergpu.hub.download`, while an address is downloaded.

    Returns
    -------
    LanguageModel or Encoder
        The model on the GPU. BERT and MiniLM are encoders.

    Raises
    ------
    InvalidArgument
        If the file is malformed.
    Unsupported
        If the architecture, the tokenizer or a tensor's format is not supported. Or if Python
        cannot block to wait for an address: use :func:`load_async`.
    OSError
        If an address cannot be downloaded.
    """
    kind, report = check_dtype(_OP, cache_dtype), reporter(_OP, progress)
    if is_folder(file):
        return _of_folder(downloaded_folder(file, report), context, kind, device)
    if is_address(file):
        file = download(file, progress=report)
    return _loaded(file, context, kind, device)


async def load_async(
    file: Any, *, context: int | None = None, cache_dtype: Any = "float32", device: Any = None,
    progress: bool | Report = False,
) -> LanguageModel | Encoder:  # fmt: skip
    """Load a language model, as :func:`load`, without blocking while an address is downloaded."""
    kind, report = check_dtype(_OP, cache_dtype), reporter(_OP, progress)
    if is_folder(file):
        return _of_folder(await downloaded_folder_async(file, report), context, kind, device)
    if is_address(file):
        file = await download_async(file, progress=report)
    return _loaded(file, context, kind, device)


def _of_folder(files: Any, context: Any, cache_dtype: str, device: Any) -> LanguageModel | Encoder:
    """Return the model of a folder's path, or of the paths of its files by name."""
    own = current(device).device
    folder = ModelFolder(files, own)
    tokenizer = load_tokenizer(folder.tokenizer_file)
    chat = folder.chat
    return _made(
        folder, folder.metadata, tokenizer, context, cache_dtype, own, chat.get("chat_template"),
        folder.ends, _named(chat), pools_first=folder.pools_first,
    )  # fmt: skip


def _loaded(file: Any, context: Any, cache_dtype: str, device: Any) -> LanguageModel | Encoder:
    if isinstance(file, str | os.PathLike) and os.path.isdir(file):
        return _of_folder(file, context, cache_dtype, device)
    own = current(device).device
    source = file if isinstance(file, GGUF) else GGUF(file, own)
    about = source.metadata
    check_architecture(architecture_of(about))
    tokenizer = from_gguf(about)
    names = ("eos_token_id", "eot_token_id", "eom_token_id")
    found = [about.get(f"tokenizer.ggml.{name}") for name in names]
    return _made(
        source, about, tokenizer, context, cache_dtype, own, about.get("tokenizer.chat_template"),
        [one for one in found if isinstance(one, int)], _special(about, tokenizer),
        pools_first=about.get("bert.pooling_type") == _POOLS_FIRST,
    )  # fmt: skip


def _made(
    tensors: Tensors, metadata: Mapping[str, Any], tokenizer: Tokenizer, context: Any,
    cache_dtype: str, device: Any, template: Any, ends: Sequence[int], variables: Mapping[str, Any],
    *, pools_first: bool,
) -> LanguageModel | Encoder:  # fmt: skip
    config = config_of(metadata)
    size = _context(config, context)
    weights = Weights(tensors, device)
    if config.architecture in ENCODERS:
        if cache_dtype != DTYPES[0]:
            raise InvalidArgument(_OP, "cache_dtype", cache_dtype, "left out for an encoder")
        encoder = Bert(weights, config)
        weights.finish()
        _check_tokens(tokenizer, encoder.vocabulary)
        return Encoder(encoder, config, tokenizer, size, device, pools_first=pools_first)
    model = DECODERS[config.architecture](weights, config, size)
    weights.finish()
    _check_tokens(tokenizer, model.vocabulary)
    text = template if isinstance(template, str) else None
    return LanguageModel(model, config, tokenizer, size, device, text, ends, variables, cache_dtype)


def _context(config: Config, context: Any) -> int:
    size = min(_CONTEXT, config.context) if context is None else context
    size = checks.integer(_OP, "context", size, 1)
    if size > config.context:
        expected = f"at most {config.context}, as the model's"
        raise InvalidArgument(_OP, "context", context, expected)
    return size


def _check_tokens(tokenizer: Tokenizer, rows: int) -> None:
    """Raise InvalidArgument if there are more tokens than rows of the embeddings."""
    count = len(tokenizer.tokens)
    if count > rows:
        raise InvalidArgument(_OP, "tokens", count, f"at most {rows}, as the embeddings have")


def _special(metadata: Mapping[str, Any], tokenizer: Tokenizer) -> dict[str, str]:
    """Return the template's names of special tokens."""
    found = {}
    for name, key in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown")):
        id = metadata.get(f"tokenizer.ggml.{key}_token_id")
        if isinstance(id, int) and 0 <= id < len(tokenizer.tokens):
            found[f"{name}_token"] = tokenizer.tokens[id]
    return found


def _named(chat: Mapping[str, Any]) -> dict[str, str]:
    """Return the special tokens of a tokenizer_config.json."""
    found = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
        own = chat.get(name)
        own = own.get("content") if isinstance(own, dict) else own
        if isinstance(own, str):
            found[name] = own
    return found
