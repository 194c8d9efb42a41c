"""Learned lookup tables."""

from __future__ import annotations

from typing import Any, Self

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.nn import bags, tables
from browsergpu.networks import init
from browsergpu.networks.layers.making import parameter
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter


class Embedding(Module):
    """Look up rows of ``weight``, [num_embeddings, embedding_dim], by integer indices.

    Parameters
    ----------
    num_embeddings : int
        Number of rows.
    embedding_dim : int
        Width of a row.
    padding_idx : int, optional
        Index of a row that starts as zeros and is not learned. Negative indices count from the end.
    max_norm : float, optional
        The largest norm of a row. Larger rows are scaled in place when they are looked up.
    norm_type : float
        Order of the norm.
    scale_grad_by_freq : bool
        Whether to divide the gradient of a row by the number of its indices.
    sparse : bool
        False. Gradients are not sparse.
    """

    weight: Array

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.num_embeddings = checks.integer(op, "num_embeddings", num_embeddings, 1)
        self.embedding_dim = checks.integer(op, "embedding_dim", embedding_dim, 1)
        _set_options(self, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        self.weight = parameter((self.num_embeddings, self.embedding_dim), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the rows from the standard normal distribution."""
        _begin(self)

    @classmethod
    def from_pretrained(
        cls, embeddings: Array, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:  # fmt: skip
        """Return an Embedding whose rows are an array's, which are not learned if ``freeze``."""
        rows, width = _checked_rows(embeddings)
        made = cls(
            rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            embeddings.device, embeddings.dtype,
        )  # fmt: skip
        made.weight = Parameter(embeddings, not checks.flag("from_pretrained", "freeze", freeze))
        return made

    def forward(self, input: Array) -> Array:
        """Return the rows, [..., embedding_dim]."""
        return tables.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return _shown(self)


class EmbeddingBag(Module):
    """Compute sums, means or maxima of rows of ``weight``, [num_embeddings, embedding_dim].

    Parameters
    ----------
    num_embeddings : int
        Number of rows.
    embedding_dim : int
        Width of a row.
    max_norm : float, optional
        The largest norm of a row. Larger rows are scaled in place when they are looked up.
    norm_type : float
        Order of the norm.
    scale_grad_by_freq : bool
        Whether to divide the gradient of a row by the number of its indices.
    mode : str
        "sum", "mean" or "max".
    sparse : bool
        False. Gradients are not sparse.
    include_last_offset : bool
        Whether ``offsets`` ends with the number of indices.
    padding_idx : int, optional
        Index of a row that starts as zeros, does not count and is not learned.
    """

    weight: Array

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        op = type(self).__name__
        self.num_embeddings = checks.integer(op, "num_embeddings", num_embeddings, 1)
        self.embedding_dim = checks.integer(op, "embedding_dim", embedding_dim, 1)
        _set_options(self, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        self.mode = mode
        self.include_last_offset = checks.flag(op, "include_last_offset", include_last_offset)
        self.weight = parameter((self.num_embeddings, self.embedding_dim), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the rows from the standard normal distribution."""
        _begin(self)

    @classmethod
    def from_pretrained(
        cls, embeddings: Array, freeze: bool = True, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
    ) -> Self:  # fmt: skip
        """Return an EmbeddingBag whose rows are an array's, not learned if ``freeze``."""
        rows, width = _checked_rows(embeddings)
        made = cls(
            rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
            include_last_offset, padding_idx, embeddings.device, embeddings.dtype,
        )  # fmt: skip
        made.weight = Parameter(embeddings, not checks.flag("from_pretrained", "freeze", freeze))
        return made

    def forward(
        self, input: Array, offsets: Any = None, per_sample_weights: Array | None = None
    ) -> Array:
        """Return an array [B, embedding_dim]. See :func:`browsergpu.nn.embedding_bag`."""
        return bags.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, False, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"{_shown(self)}, mode={self.mode!r}"


def _set_options(
    module: Any, padding_idx: Any, max_norm: Any, norm_type: Any, scale_grad_by_freq: Any,
    sparse: Any,
) -> None:  # fmt: skip
    op, count = type(module).__name__, module.num_embeddings
    module.padding_idx = padding_idx
    if padding_idx is not None:
        module.padding_idx = (
            checks.integer(op, "padding_idx", padding_idx, -count, count - 1) % count
        )
    module.max_norm = None if max_norm is None else checks.real(op, "max_norm", max_norm)
    module.norm_type = checks.real(op, "norm_type", norm_type)
    module.scale_grad_by_freq = checks.flag(op, "scale_grad_by_freq", scale_grad_by_freq)
    tables.check_dense(op, sparse)


def _begin(module: Any) -> None:
    init.normal_(module.weight)
    if module.padding_idx is not None:
        module.weight.detach()[module.padding_idx] = 0


def _checked_rows(embeddings: Any) -> tuple[int, int]:
    """Return the shape of a table. Raises InvalidType or InvalidArgument for anything else."""
    op = "from_pretrained"
    if not isinstance(embeddings, Array):
        raise InvalidType(op, "embeddings", embeddings, "an array")
    if embeddings.ndim != 2:
        raise InvalidArgument(op, "embeddings", embeddings, "have two axes")
    rows, width = embeddings.shape
    return rows, width


def _shown(module: Any) -> str:
    text = f"{module.num_embeddings}, {module.embedding_dim}"
    if module.padding_idx is not None:
        text += f", padding_idx={module.padding_idx}"
    return text if module.max_norm is None else f"{text}, max_norm={module.max_norm}"
