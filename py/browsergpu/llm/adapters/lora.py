"""LoRA: training of a model whose weights stay frozen, also quantized ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.files import replacing
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions import creation
from browsergpu.functions.nn.losses import cross_entropy
from browsergpu.llm.adapters.layer import LoRALinear
from browsergpu.llm.language_model import LanguageModel
from browsergpu.networks.files.headers import shallow_json
from browsergpu.networks.files.safetensors import Safetensors, save_safetensors

_OP = "llm.lora"
_WEIGHTS, _CONFIG = "adapter_model.safetensors", "adapter_config.json"
_PREFIX = "base_model.model.model.layers"
_MOST_JSON = 1 << 20
#: The place of each of PEFT's targets: the part of its name, and the modules of a block.
_TARGETS = {
    "q_proj": ("self_attn", ("attention", "q")), "k_proj": ("self_attn", ("attention", "k")),
    "v_proj": ("self_attn", ("attention", "v")),
    "qkv_proj": ("self_attn", ("attention", "qkv")),
    "o_proj": ("self_attn", ("attention", "output")), "gate_proj": ("mlp", ("mlp", "gate")),
    "up_proj": ("mlp", ("mlp", "up")), "down_proj": ("mlp", ("mlp", "down")),
}  # fmt: skip
_MOST_RANK = 4096
_ARCHITECTURES = ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3")


def lora(
    model: LanguageModel, rank: int = 8, alpha: float = 16.0,
    targets: Sequence[str] = ("q_proj", "v_proj"), *, seed: int | None = None,
) -> LoRA:  # fmt: skip
    """Add adapters of low rank to a model, and return them.

    Parameters
    ----------
    model : LanguageModel
        A model of the architectures llama, qwen2, qwen3, gemma2, gemma3 or phi3. Its weights stay
        as they are, in their formats.
    rank : int
        Rank of the added matrices.
    alpha : float
        The adapters are multiplied by ``alpha / rank``.
    targets : sequence of str
        Names of the layers, as PEFT has them: q_proj, k_proj, v_proj, qkv_proj, o_proj, gate_proj,
        up_proj, down_proj.
    seed : int, optional
        Of the first values. Random by default.

    Returns
    -------
    LoRA
        The adapters. The model generates with them until ``remove()``.

    Raises
    ------
    InvalidArgument
        If the model lacks a target, has adapters, or is of another architecture.
    """
    if not isinstance(model, LanguageModel):
        raise InvalidType(_OP, "model", model, "a LanguageModel")
    model.check_open(_OP)
    if model.config.architecture not in _ARCHITECTURES:
        given = Description(f"a model of the architecture {model.config.architecture}")
        raise InvalidArgument(_OP, "model", given, f"one of {', '.join(_ARCHITECTURES)}")
    rank = checks.integer(_OP, "rank", rank, 1, _MOST_RANK)
    factor = checks.real(_OP, "alpha", alpha)
    if isinstance(targets, str) or not isinstance(targets, Sequence) or not targets:
        raise InvalidType(_OP, "targets", targets, f"a list of {', '.join(_TARGETS)}")
    own = None if seed is None else checks.integer(_OP, "seed", seed, 0, 2**63 - 1)
    return LoRA(model, rank, factor, targets, own)


class LoRA(Shown):
    """The adapters of a model. :func:`lora` makes them.

    Attributes
    ----------
    rank : int
        Rank of the matrices.
    alpha : float
        Numerator of their factor.
    targets : tuple of str
        Names of the layers.
    """

    def __init__(
        self, model: LanguageModel, rank: int, alpha: float, targets: Sequence[str],
        seed: int | None,
    ) -> None:  # fmt: skip
        self.rank, self.alpha, self.targets = rank, alpha, tuple(dict.fromkeys(targets))
        self._model = model
        self._layers: dict[str, LoRALinear] = {}
        self._parents: list[tuple[Any, str, Any]] = []
        source, device = np.random.default_rng(seed), model.device
        found = [
            (n, name, *self._find(block, name))
            for n, block in enumerate(model.model.blocks)
            for name in self.targets
        ]
        model.adapt(self)
        for n, name, parent, attribute in found:
            base = getattr(parent, attribute)
            layer = LoRALinear(base, rank, alpha, source, device)
            self._layers[f"{_PREFIX}.{n}.{_TARGETS[name][0]}.{name}"] = layer
            self._parents.append((parent, attribute, base))
        for (parent, attribute, _), layer in zip(self._parents, self._layers.values(), strict=True):
            setattr(parent, attribute, layer)

    def _facts(self) -> str:
        return f"of rank {self.rank} for {', '.join(self.targets)}"

    def _find(self, block: Any, name: Any) -> tuple[Any, str]:
        """Return the module that has a target, and the attribute's name."""
        place = _TARGETS.get(name) if isinstance(name, str) else None
        if place is None:
            raise InvalidArgument(_OP, "targets", name, f"of {', '.join(_TARGETS)}")
        parent, attribute = place[1]
        own = dict(block.named_children()).get(parent)
        if own is None or attribute not in dict(own.named_children()):
            kind = self._model.config.architecture
            raise InvalidArgument(_OP, "targets", name, f"layers of the architecture {kind}")
        return own, attribute

    def parameters(self) -> Iterator[Array]:
        """Yield the trained parameters, for an optimizer."""
        for layer in self._layers.values():
            yield layer.lora_A
            yield layer.lora_B

    def loss(self, text: Any, prompt: Any = None) -> Array:
        """Return the mean cross entropy of a text's tokens, with its gradient.

        Parameters
        ----------
        text : str or list of int
            A text of at least 2 tokens, or its tokens.
        prompt : str or list of int, optional
            Text or tokens before it, which the model reads and does not learn. Tokens of the
            beginning are added to the prompt.

        Returns
        -------
        Array
            A number. Call ``backward()`` on it, or use it in a function of ``bg.grad``.
        """
        op = "LoRA.loss"
        before = [] if prompt is None else self._model.tokens(op, prompt)
        after = self._model.tokens(op, text, add_special_tokens=not before)
        both = [*before, *after]
        if not after or not 2 <= len(both) <= self._model.context:
            given = Description(f"{len(both)} tokens")
            expected = f"have 2 to {self._model.context} tokens with the prompt"
            raise InvalidArgument(op, "text", given, expected)
        network, device = self._model.model, self._model.device
        states = network(creation.asarray(np.array(both[:-1], np.int32), device=device), None)
        begin = max(len(before), 1)
        target = creation.asarray(np.array(both[begin:], np.int32), device=device)
        return cross_entropy(network.logits(states[begin - 1 :]), target)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the adapters as PEFT does: adapter_model.safetensors and adapter_config.json.

        Blocks.
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        arrays = {}
        for name, layer in self._layers.items():
            arrays[f"{name}.lora_A.weight"] = layer.lora_A.detach().numpy()
            arrays[f"{name}.lora_B.weight"] = self._rows(
                name, layer.lora_B.detach().numpy(), is_saved=True
            )
        save_safetensors(path / _WEIGHTS, arrays, metadata={"format": "pt"})
        about = {
            "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": self.rank,
            "lora_alpha": self.alpha, "target_modules": list(self.targets), "bias": "none",
            "lora_dropout": 0.0, "fan_in_fan_out": False, "inference_mode": True,
            "base_model_name_or_path": None, "use_rslora": False,
        }  # fmt: skip
        with replacing(path / _CONFIG) as file:
            file.write(json.dumps(about, indent=2).encode())

    def load(self, folder: str | os.PathLike[str]) -> None:
        """Load adapters of the same rank, alpha and targets from a folder of PEFT's."""
        op, path = "LoRA.load", Path(folder)
        with open(path / _CONFIG, "rb") as file:
            about = shallow_json(file.read(_MOST_JSON).decode("utf-8"))
        if not isinstance(about, dict):
            raise InvalidArgument(op, _CONFIG, about, "an object")
        _check_config(op, about, self)
        weights = Safetensors(path / _WEIGHTS, self._model.device)
        wanted = {f"{name}.lora_{part}.weight" for name in self._layers for part in "AB"}
        if wanted != set(weights):
            odd = sorted(wanted ^ set(weights))[0]
            raise InvalidArgument(
                op, _WEIGHTS, Description(f"{odd!r} in one of them"), "have the model's layers"
            )
        found = {}
        for name, layer in self._layers.items():
            for part, own in (("A", layer.lora_A), ("B", layer.lora_B)):
                data = weights.numpy(f"{name}.lora_{part}.weight").astype(np.float32)
                if data.shape != own.shape:
                    given = Description(f"{data.shape} for {name}.lora_{part}")
                    raise InvalidArgument(op, _WEIGHTS, given, f"have shape {own.shape}")
                found[name, part] = data if part == "A" else self._rows(name, data, is_saved=False)
        with no_grad():
            for name, layer in self._layers.items():
                layer.lora_A[...] = found[name, "A"]
                layer.lora_B[...] = found[name, "B"]

    def _rows(self, name: str, data: np.ndarray, *, is_saved: bool) -> np.ndarray:
        """Return B with the rows of queries and keys in PEFT's order, or back in the model's.

        GGUF's Llama has the elements that turn together side by side. Elsewhere they are half a
        head apart.
        """
        config = self._model.config
        heads = {"q_proj": config.heads, "k_proj": config.kv_heads}.get(name.rsplit(".", 1)[-1])
        if heads is None or not config.adjacent_pairs:
            return data
        half = config.head_width // 2
        first, second = (half, 2) if is_saved else (2, half)
        apart = data.reshape(heads, first, second, self.rank).swapaxes(1, 2)
        return np.asarray(apart.reshape(data.shape), order="C")

    def remove(self) -> None:
        """Take the adapters out of the model, which then is as before."""
        for parent, attribute, base in self._parents:
            setattr(parent, attribute, base)
        self._parents.clear()
        self._model.adapt(None)


def _check_config(op: str, about: dict[str, Any], own: LoRA) -> None:
    """Raise InvalidArgument if a configuration is not that of the adapters."""
    wanted: dict[str, Any] = {"peft_type": "LORA", "r": own.rank, "lora_alpha": own.alpha}
    for name, expected in wanted.items():
        if about.get(name) != expected:
            raise InvalidArgument(op, name, about.get(name), f"{expected!r}, as the adapters have")
    targets = about.get("target_modules")
    if not isinstance(targets, list) or {*map(str, targets)} != {*own.targets}:
        expected = f"{list(own.targets)}, as the adapters have"
        raise InvalidArgument(op, "target_modules", targets, expected)
    for name in ("use_rslora", "use_dora", "fan_in_fan_out", "rank_pattern", "alpha_pattern"):
        if about.get(name):
            raise Unsupported(op, f"{_CONFIG} has {name}, which is not supported.")
