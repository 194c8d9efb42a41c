"""Files of neural networks: safetensors and training checkpoints."""

from browsergpu.networks.files.checkpoints import (
    load_checkpoint,
    save_checkpoint,
    save_checkpoint_async,
)
from browsergpu.networks.files.safetensors import (
    Safetensors,
    load_safetensors,
    save_safetensors,
    save_safetensors_async,
)

__all__ = [
    "Safetensors",
    "load_checkpoint",
    "load_safetensors",
    "save_checkpoint",
    "save_checkpoint_async",
    "save_safetensors",
    "save_safetensors_async",
]
