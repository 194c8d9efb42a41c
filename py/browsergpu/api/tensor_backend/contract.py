"""The contract of a tensor backend: 52 methods on tensors, which are integer handles.

A tensor has a fixed shape and dtype, and is contiguous in row-major order on the device. Operations
write into existing tensors (``out``), whose shape and dtype are checked. ``out`` may be one of the
inputs. Float operations take f32 and f16 tensors in any combination: f16 is only storage, sums are
float32. A GPU may flush subnormal numbers (nearer to 0 than 2^-126, in f16 2^-14) to zero, in
operands and results. u8 is an integer from 0 to 255. Only image filters, which also accept it, read
it as 0..1.

Handles, shapes, dtypes and numbers are checked before anything reaches the device. Wrong ones raise
InvalidArgument. NotInitialized and DeviceLost come from the underlying compute backend.

The first 22 operations after the memory functions work on plain numbers (see scalars.py).
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NewType

from browsergpu.api.tensor_backend.scalars import Scalars
from browsergpu.core.dtypes import DType, DTypeLike
from browsergpu.core.errors import InvalidArgument, Unsupported

TensorHandle = NewType("TensorHandle", int)


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """Metadata of a tensor, which needs no read."""

    shape: tuple[int, ...]
    dtype: DType
    nbytes: int  # on the device


class TensorContract(Scalars, ABC):
    """Interface of tensor backends. The module's docstring has the conventions."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, such as ``"webgpu"``."""

    @property
    @abstractmethod
    def is_available(self) -> bool:
        """Whether the underlying device is open."""

    @abstractmethod
    def alloc_tensor(self, shape: Sequence[int], dtype: DTypeLike) -> TensorHandle:
        """Return a new tensor with undefined contents. Raise OutOfMemory if it is too large."""

    @abstractmethod
    def free_tensor(self, handle: TensorHandle) -> None:
        """Free a tensor. Operations recorded with it still run."""

    @abstractmethod
    def tensor_meta(self, handle: TensorHandle) -> TensorMeta:
        """Return the shape, dtype and bytes of a tensor."""

    @abstractmethod
    def write_tensor(self, handle: TensorHandle, data: Any) -> None:
        """Fill a tensor from a NumPy array of its shape, or from bytes in its dtype.

        In bytes, a bool takes one byte. Other integer arrays are narrowed if every value fits.
        float64, and other arrays whose values would change, are refused. Cast them first.
        """

    @abstractmethod
    def read_tensor(self, handle: TensorHandle) -> bytes:
        """Return a tensor's elements as bytes in its dtype (bool: one byte each). Waits."""

    @abstractmethod
    def pointwise_add(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """Compute out = a + b for equal shapes.

        Operands are floats, or have one dtype of i32, u32 (modulo 2^32) and u8 (modulo 256).
        """

    @abstractmethod
    def matmul(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """Compute out = a b for [..., M, K] and [..., K, N].

        The leading axes are equal, or one operand has none and is used for all.
        """

    @abstractmethod
    def matmul_bias(
        self, a: TensorHandle, b: TensorHandle, bias: TensorHandle, out: TensorHandle
    ) -> None:
        """Compute :meth:`matmul` plus a bias [N] on every row, added in the product's kernel."""

    @abstractmethod
    def layer_norm(
        self,
        input: TensorHandle,
        gamma: TensorHandle,
        beta: TensorHandle,
        out: TensorHandle,
        eps: float,
    ) -> None:
        """Compute (x - mean) / sqrt(variance + eps) * gamma + beta along the last axis.

        The variance is the biased one. gamma and beta have the axis's extent.
        https://arxiv.org/abs/1607.06450
        """

    @abstractmethod
    def softmax(self, input: TensorHandle, out: TensorHandle, dim: int) -> None:
        """Compute exp(x) / sum of exp(x) along an axis, numerically stable.

        Negative axes count from the end.
        """

    @abstractmethod
    def gelu(self, input: TensorHandle, out: TensorHandle, approximate: str = "tanh") -> None:
        """Compute 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³))).

        ``approximate="none"`` computes the exact 0.5 x (1 + erf(x / sqrt(2))).
        https://arxiv.org/abs/1606.08415
        """

    @abstractmethod
    def relu(self, input: TensorHandle, out: TensorHandle) -> None:
        """Compute max(x, 0)."""

    @abstractmethod
    def attention(
        self,
        q: TensorHandle,
        k: TensorHandle,
        v: TensorHandle,
        out: TensorHandle,
        mask: TensorHandle | None,
        scale: float | None,
    ) -> None:
        """Compute softmax(scale q kᵀ + mask) v for q, out [..., S_q, D] and k, v [..., S_kv, D].

        ``mask`` broadcasts to [..., S_q, S_kv]. A float mask is added. A bool mask is False where a
        key is masked out; a row without keys gives 0. At most two groups of neighboring leading
        axes may be broadcast differently. ``scale`` is a factor. None means 1/sqrt(D).
        """

    @abstractmethod
    def cross_entropy(
        self,
        logits: TensorHandle,
        targets: TensorHandle,
        loss_out: TensorHandle,
        probs_out: TensorHandle,
    ) -> None:
        """Compute -log softmax(logits)[target] for [..., C] logits and [...] i32 targets.

        The result is NaN for a target that is not a class. loss_out is [...], or a scalar [] for
        the mean. probs_out is the softmax.
        """

    @abstractmethod
    def reduce_sum(self, input: TensorHandle, out: TensorHandle, dim: int | None) -> None:
        """Sum along an axis, or over all elements for None.

        ``out`` lacks the axis or has it with extent 1. i32, u32, u8 and bool are added modulo 2^32
        into i32 or u32.
        """

    @abstractmethod
    def embedding(self, indices: TensorHandle, weight: TensorHandle, out: TensorHandle) -> None:
        """Compute out[..., :] = weight[indices[...], :] for i32 indices and weight [V, D].

        An index out of range gives a row of NaN (0 for integers).
        """

    @abstractmethod
    def adam_update(
        self,
        param: TensorHandle,
        grad: TensorHandle,
        m: TensorHandle,
        v: TensorHandle,
        lr: float,
        beta1: float,
        beta2: float,
        eps: float,
        step: int,
    ) -> None:
        """Take a step of Adam in place on param, m and v.

        The step number (from 1) corrects the bias, eps is added after the root, and there is no
        weight decay. https://arxiv.org/abs/1412.6980
        """

    @abstractmethod
    def gaussian_blur(self, input: TensorHandle, out: TensorHandle, sigma: float) -> None:
        """Blur by a Gaussian of sigma pixels, cut at radius ceil(3 sigma), with replicated borders.

        Images are [H, W] or [H, W, C] with values in 0..1. All filters clamp their results to this
        range.
        """

    @abstractmethod
    def sobel_edges(self, input: TensorHandle, out: TensorHandle, threshold: float) -> None:
        """Set 1 where the Sobel gradient magnitude of the luminance is above threshold, else 0."""

    @abstractmethod
    def grayscale(self, input: TensorHandle, out: TensorHandle) -> None:
        """Convert colors to 0.299 r + 0.587 g + 0.114 b. The shape and alpha stay the same."""

    @abstractmethod
    def threshold(self, input: TensorHandle, out: TensorHandle, value: float) -> None:
        """Set 1 where x >= value, else 0. Alpha stays the same."""

    @abstractmethod
    def brightness(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """Compute x factor, clamped. Alpha stays the same."""

    @abstractmethod
    def contrast(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """Compute (x - 0.5) factor + 0.5, clamped. Alpha stays the same."""

    @abstractmethod
    def invert_colors(self, input: TensorHandle, out: TensorHandle) -> None:
        """Compute 1 - x. Alpha stays the same."""

    @abstractmethod
    def sharpen(self, input: TensorHandle, out: TensorHandle) -> None:
        """Apply the 3 × 3 filter 0 -1 0 / -1 5 -1 / 0 -1 0, clamped, with replicated borders.

        Alpha stays the same.
        """

    @abstractmethod
    def sync(self) -> None:
        """Wait for all recorded operations, and raise errors that the device reported."""

    @abstractmethod
    def dispatch_compute(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        """Run a compute shader on tensors.

        Parameters
        ----------
        shader : str or bytes
            WGSL as str or UTF-8 bytes, or SPIR-V, with one compute entry point.
        bindings : sequence of TensorHandle
            Tensors for the storage buffers of @group(0), in the order of binding numbers.
        push_constants : bytes-like or None
            Contents of ``var<immediate>``.
        workgroup_count : int or sequence of int
            The grid.

        Notes
        -----
        ``arrayLength`` covers the tensor's bytes in whole words. An empty tensor is passed as a
        word of 0.
        """

    def abi_fingerprint(self) -> str:
        """Return a hash of the contract's methods: names, and the names and kinds of arguments."""
        return FINGERPRINT


def methods(*classes: type) -> dict[str, str]:
    """Return the arguments of every method that the classes declare, by method name.

    Arguments are given by name, kind, and whether they are optional. Properties have none. By
    default, the classes are those of this contract.
    """
    table: dict[str, str] = {}
    for cls in classes or (Scalars, TensorContract):
        for name, member in vars(cls).items():
            if name.startswith("_"):
                continue
            if isinstance(member, property):
                table[name] = "property"
            elif callable(member):
                parameters = inspect.signature(member).parameters.values()
                table[name] = "(" + ", ".join(map(_argument, parameters)) + ")"
    return table


def _argument(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else "?"
    return f"{parameter.name}{default} {parameter.kind.name.lower()}"


def fingerprint(*classes: type) -> str:
    """Return a hash of :func:`methods`, equal in every process."""
    lines = "\n".join(f"{name}{arguments}" for name, arguments in sorted(methods(*classes).items()))
    return sha256(lines.encode()).hexdigest()[:16]


#: The ``abi_fingerprint`` that backends for this version of the contract return.
FINGERPRINT = fingerprint()


def require_abi(backend: Any) -> None:
    """Raise Unsupported if a backend is for another version of the contract."""
    op = "abi_fingerprint"
    ask = getattr(backend, op, None)
    if not callable(ask):
        raise InvalidArgument(op, "backend", backend, "a tensor backend")
    found = ask()
    if found != FINGERPRINT:
        raise Unsupported(
            op,
            f"the backend's fingerprint is {found!r}, this runtime's is {FINGERPRINT!r}. Install "
            "matching versions.",
        )
