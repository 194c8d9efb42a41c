"""What networks learn from: datasets, and batches of them on the GPU."""

from browsergpu.networks.data.datasets import (
    ArrayDataset,
    Dataset,
    Subset,
    TensorDataset,
    random_split,
)
from browsergpu.networks.data.loader import DataLoader

__all__ = ["ArrayDataset", "DataLoader", "Dataset", "Subset", "TensorDataset", "random_split"]
