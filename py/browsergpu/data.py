"""Datasets, and loaders of batches on the GPU, as in ``torch.utils.data``."""

from browsergpu.networks.data.datasets import (
    ArrayDataset,
    Dataset,
    Subset,
    TensorDataset,
    random_split,
)
from browsergpu.networks.data.loader import DataLoader
from browsergpu.networks.data.progress import progress

__all__ = [
    "ArrayDataset",
    "DataLoader",
    "Dataset",
    "Subset",
    "TensorDataset",
    "progress",
    "random_split",
]
