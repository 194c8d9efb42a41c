"""Tools, as ``torch.utils``: data, and checkpoint."""

from browsergpu.torch.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
