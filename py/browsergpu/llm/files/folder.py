"""Folders of models in safetensors, with config.json and tokenizer.json, by GGUF's names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions import creation
from browsergpu.functions.language.quantized import QuantizedArray, joined_rows
from browsergpu.networks.files.headers import shallow_json
from browsergpu.networks.files.safetensors import Safetensors

_OP = "llm.load"
_MOST_JSON = 1 << 26
#: The file with all tensors, and the names of its parts if there are several.
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"

#: Names of tensors: patterns of the folder's and GGUF's.
_DECODER = (
    (r"model\.embed_tokens\.", "token_embd."),
    (r"model\.norm\.", "output_norm."),
    (r"lm_head\.", "output."),
    (r"model\.layers\.(\d+)\.self_attn\.([qkv])_proj\.", r"blk.\1.attn_\2."),
    (r"model\.layers\.(\d+)\.self_attn\.([qk])_norm\.", r"blk.\1.attn_\2_norm."),
    (r"model\.layers\.(\d+)\.self_attn\.o_proj\.", r"blk.\1.attn_output."),
    (r"model\.layers\.(\d+)\.mlp\.(gate|up|down)_proj\.", r"blk.\1.ffn_\2."),
    (r"model\.layers\.(\d+)\.input_layernorm\.", r"blk.\1.attn_norm."),
    (r"model\.layers\.(\d+)\.post_attention_layernorm\.", r"blk.\1.ffn_norm."),
)
_BERT = (
    (r"(?:bert\.)?embeddings\.word_embeddings\.", "token_embd."),
    (r"(?:bert\.)?embeddings\.position_embeddings\.", "position_embd."),
    (r"(?:bert\.)?embeddings\.token_type_embeddings\.", "token_types."),
    (r"(?:bert\.)?embeddings\.LayerNorm\.", "token_embd_norm."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.self\.query\.", r"blk.\1.attn_q."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.self\.key\.", r"blk.\1.attn_k."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.self\.value\.", r"blk.\1.attn_v."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.dense\.", r"blk.\1.attn_output."),
    (
        r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.",
        r"blk.\1.attn_output_norm.",
    ),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.intermediate\.dense\.", r"blk.\1.ffn_up."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.output\.dense\.", r"blk.\1.ffn_down."),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.output\.LayerNorm\.", r"blk.\1.layer_output_norm."),
)
#: Tensors that embeddings and text do not need.
_UNUSED = re.compile(r"(bert\.)?(pooler\..*|embeddings\.position_ids)|.*\.rotary_emb\.inv_freq")
#: GGUF's architecture and the names by the folder's model type.
_KINDS = {
    "llama": ("llama", _DECODER), "mistral": ("llama", _DECODER), "qwen2": ("qwen2", _DECODER),
    "qwen3": ("qwen3", _DECODER), "bert": ("bert", _BERT),
}  # fmt: skip


class ModelFolder(Shown, Mapping[str, Any]):
    """The tensors of a folder by GGUF's names, and metadata as a GGUF file has.

    Matrices of float16 and bfloat16 keep their format on the GPU.

    Parameters
    ----------
    path : path, or mapping of names to paths
        The folder, with config.json, tokenizer.json, and model.safetensors or its parts. Or the
        paths of its files, if they are in several folders.
    device : Device, optional
        The device for the tensors.
    """

    def __init__(
        self, path: str | os.PathLike[str] | Mapping[str, Path], device: Any = None
    ) -> None:
        self._files, self._device = path, device
        self._config = self._json("config.json")
        kind = self._config.get("model_type")
        if kind not in _KINDS:
            raise Unsupported(
                _OP, f"model_type must be one of {', '.join(_KINDS)}, got {kind!r}. "
                "Use a GGUF file."
            )  # fmt: skip
        architecture, self._names = _KINDS[kind]
        #: Metadata by GGUF's names.
        self.metadata = _metadata(self._config, architecture)
        self._places: dict[str, tuple[Safetensors, str]] = {}
        for file in self._parts():
            own = Safetensors(file, device)
            for name in own:
                if not _UNUSED.fullmatch(name):
                    self._places[self._name(name)] = own, name
        factors = _llama3_factors(self._config, self.metadata, architecture)
        self._made = {} if factors is None else {"rope_freqs.weight": factors}

    @property
    def tokenizer_file(self) -> Path:
        """The path of tokenizer.json."""
        return self._path("tokenizer.json")

    @property
    def pools_first(self) -> bool:
        """Whether an encoder's vector is the first token's, not the mean."""
        found = self._optional_json("1_Pooling/config.json")
        return bool(found.get("pooling_mode_cls_token")) and not found.get(
            "pooling_mode_mean_tokens"
        )

    @property
    def chat(self) -> dict[str, Any]:
        """tokenizer_config.json, with the chat template and names of special tokens."""
        found = self._optional_json("tokenizer_config.json")
        template = self._path("chat_template.jinja")
        if template.is_file() and template.stat().st_size < _MOST_JSON:
            found["chat_template"] = template.read_text(encoding="utf-8")
        return found

    @property
    def ends(self) -> list[int]:
        """Tokens that end a text."""
        found = self._optional_json("generation_config.json").get("eos_token_id")
        found = self._config.get("eos_token_id") if found is None else found
        own = found if isinstance(found, list) else [found]
        return [one for one in own if isinstance(one, int)]

    def _path(self, name: str) -> Path:
        """Return the path of a file, which may be missing."""
        if isinstance(self._files, Mapping):
            return self._files.get(name, Path("missing") / name)
        return Path(self._files) / name

    def _parts(self) -> list[Path]:
        """Return the files with tensors."""
        index = self._path(INDEX)
        if not index.is_file():
            return [self._path(WEIGHTS)]
        return [self._path(name) for name in parts_of(index)]

    def _name(self, name: str) -> str:
        for pattern, own in self._names:
            found = re.match(pattern, name)
            if found:
                return found.expand(own) + name[found.end() :]
        return name

    def _json(self, name: str) -> dict[str, Any]:
        return _json_of(self._path(name))

    def _optional_json(self, name: str) -> dict[str, Any]:
        return self._json(name) if self._path(name).is_file() else {}

    def __getitem__(self, name: str) -> Any:
        if name in self._made:
            return creation.asarray(self._made[name], device=self._device)
        file, own = self._places[name]
        entry = file.entries[own]
        if entry.dtype in ("F16", "BF16") and len(entry.shape) == 2 and entry.shape[1] % 4 == 0:
            rows, columns = entry.shape
            return QuantizedArray(file.part(own), (rows, columns), entry.dtype, self._device)
        if entry.dtype in ("F16", "BF16", "F64"):
            floats = file.numpy(own).astype(np.float32)
            return creation.asarray(floats, device=self._device)
        return file[own]

    def joined(
        self, names: Sequence[str]
    ) -> tuple[Array, list[Array]] | tuple[QuantizedArray, list[QuantizedArray]] | None:
        """Return a matrix of the rows of several, which may be in several files.

        See :meth:`GGUF.joined`.
        """
        places = [self._places[name] for name in names]
        entries = [file.entries[own] for file, own in places]
        parts = [file.part(own) for file, own in places]
        shapes, formats = [one.shape for one in entries], [one.dtype for one in entries]
        return joined_rows(_OP, parts, shapes, formats, self._device)

    def __iter__(self) -> Iterator[str]:
        yield from self._made
        yield from self._places

    def __len__(self) -> int:
        return len(self._made) + len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._places

    def __repr__(self) -> str:
        return f"<ModelFolder of {len(self)} tensors>"


def _json_of(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_JSON:
            raise ValueError(f"more than {_MOST_JSON} bytes")
        found = shallow_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _wrong(path.name, f"JSON in UTF-8 ({error})") from None
    if not isinstance(found, dict):
        raise _wrong(path.name, "a JSON object")
    return found


def parts_of(index: Path) -> list[str]:
    """Return the names of the files with tensors by the index of a model in several parts."""
    parts = _json_of(index).get("weight_map")
    if not isinstance(parts, dict) or not all(isinstance(x, str) for x in parts.values()):
        raise _wrong(INDEX, "a weight_map of file names")
    names = sorted(set(parts.values()))
    if not names or any(os.path.basename(name) != name or not name for name in names):
        raise _wrong(INDEX, "a weight_map of files in the folder")
    return names


def _metadata(config: dict[str, Any], architecture: str) -> dict[str, Any]:
    """Return a config.json as GGUF's metadata. Raises Unsupported for options without a place."""
    expected = {"bert": ("gelu",)}.get(architecture, ("silu",))
    activation = config.get("hidden_act", expected[0])
    if activation not in expected:
        raise Unsupported(_OP, f"hidden_act must be {expected[0]}, got {activation!r}. "
                               "Use another model.")  # fmt: skip
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise Unsupported(_OP, "position_embedding_type must be absolute. Use another model.")
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    found: dict[str, Any] = {
        "block_count": config.get("num_hidden_layers"),
        "embedding_length": config.get("hidden_size"),
        "feed_forward_length": config.get("intermediate_size"),
        "attention.head_count": config.get("num_attention_heads"),
        "attention.head_count_kv": config.get("num_key_value_heads"),
        "attention.key_length": config.get("head_dim"),
        "attention.value_length": config.get("head_dim"),
        "attention.layer_norm_rms_epsilon": config.get("rms_norm_eps"),
        "attention.layer_norm_epsilon": config.get("layer_norm_eps"),
        "context_length": config.get("max_position_embeddings"),
        "rope.freq_base": config.get("rope_theta"),
        "attention.sliding_window": window,
        **_scaling(config),
    }
    return {
        "general.architecture": architecture,
        "general.adjacent_pairs": False,
        **{f"{architecture}.{key}": x for key, x in found.items() if x is not None},
    }


def _scaling(config: dict[str, Any]) -> dict[str, Any]:
    own = config.get("rope_scaling") or {}
    kind = own.get("rope_type", own.get("type", "default"))
    if kind in ("default", "llama3"):  # the latter becomes factors
        return {}
    if kind == "linear":
        return {"rope.scaling.type": kind, "rope.scaling.factor": own.get("factor")}
    if kind == "yarn" and not set(own) & {"mscale", "mscale_all_dim", "beta_fast", "beta_slow"}:
        return {
            "rope.scaling.type": kind, "rope.scaling.factor": own.get("factor"),
            "rope.scaling.original_context_length": own.get("original_max_position_embeddings"),
        }  # fmt: skip
    raise Unsupported(_OP, f"rope_scaling must be linear, yarn or llama3, got {own!r}. "
                           "Use a GGUF file.")  # fmt: skip


def _llama3_factors(
    config: dict[str, Any], metadata: dict[str, Any], architecture: str
) -> np.ndarray | None:
    """Return the divisors of frequencies by Llama 3's scaling, or None."""
    own = config.get("rope_scaling") or {}
    if own.get("rope_type", own.get("type")) != "llama3":
        return None
    try:
        heads, width = config["num_attention_heads"], config["hidden_size"]
        size = config.get("head_dim") or width // heads
        base = float(metadata[f"{architecture}.rope.freq_base"])
        factor, low, high, before = (
            float(own[name])
            for name in (
                "factor", "low_freq_factor", "high_freq_factor",
                "original_max_position_embeddings",
            )
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise _wrong("config.json", f"all numbers of rope_scaling ({error!r})") from None
    frequencies = base ** -(np.arange(0, size, 2) / size)
    turns = before * frequencies / (2 * pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    found: np.ndarray = (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)
    return found


def _wrong(name: str, expected: str) -> InvalidArgument:
    return InvalidArgument(_OP, name, Description("a malformed file"), f"have {expected}")
