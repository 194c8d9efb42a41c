"""What networks learn from: datasets, and batches of them on the GPU."""

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
