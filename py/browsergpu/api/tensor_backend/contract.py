"""The contract of a tensor backend: 52 methods on tensors known by small integer handles.

A tensor has a shape and a dtype for life and lies contiguous in row-major order on the device.
Operations write into tensors that exist already (``out``), whose shape and dtype are checked. An
``out`` may be one of the inputs. Floating-point operations take f32 and f16 tensors, mixed as
they come: f16 is storage, sums are float32. A GPU may take subnormal numbers (nearer to 0 than
2^-126, in f16 2^-14) for zeros, in operands and results alike. u8 is a whole number from 0 to 255;
only image filters, which take it too, read it as 0..1.

Handles, shapes, dtypes and numbers are checked before anything reaches the device, by
InvalidArgument; NotInitialized and DeviceLost are those of the compute backend beneath.

The first 22 operations after the memory's are of plain numbers (see scalars.py).
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
    """What is known of a tensor without reading it."""

    shape: tuple[int, ...]
    dtype: DType
    nbytes: int  # on the device


class TensorContract(Scalars, ABC):
    """What every tensor backend does. See the module's docstring for the conventions."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, such as ``"webgpu"``."""

    @property
    @abstractmethod
    def is_available(self) -> bool:
        """Whether the device beneath is open."""

    @abstractmethod
    def alloc_tensor(self, shape: Sequence[int], dtype: DTypeLike) -> TensorHandle:
        """A new tensor, contents undefined. Raises OutOfMemory where it cannot be that large."""

    @abstractmethod
    def free_tensor(self, handle: TensorHandle) -> None:
        """Gives a tensor back. Work that was recorded with it still runs."""

    @abstractmethod
    def tensor_meta(self, handle: TensorHandle) -> TensorMeta:
        """Shape, dtype and bytes of a tensor."""

    @abstractmethod
    def write_tensor(self, handle: TensorHandle, data: Any) -> None:
        """Fills a tensor: from a NumPy array of its shape, or from bytes in its dtype (bool: one
        byte an element). Other integer arrays are narrowed if every value fits; float64 is
        refused, as is anything that would lose its meaning: cast it first."""

    @abstractmethod
    def read_tensor(self, handle: TensorHandle) -> bytes:
        """A tensor's elements as bytes in its dtype (bool: one byte an element). Waits."""

    @abstractmethod
    def pointwise_add(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """out = a + b for equal shapes: floats, or one dtype of i32, u32 (modulo 2^32) and u8
        (modulo 256)."""

    @abstractmethod
    def matmul(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """out = a b for [.., M, K] and [.., K, N]; the leading dimensions are equal, or one of
        the two has none and serves for all."""

    @abstractmethod
    def matmul_bias(
        self, a: TensorHandle, b: TensorHandle, bias: TensorHandle, out: TensorHandle
    ) -> None:
        """:meth:`matmul` plus a bias [N] on every row, added in the product's own kernel."""

    @abstractmethod
    def layer_norm(
        self,
        input: TensorHandle,
        gamma: TensorHandle,
        beta: TensorHandle,
        out: TensorHandle,
        eps: float,
    ) -> None:
        """(x - mean) / sqrt(variance + eps) * gamma + beta over the last axis, biased variance;
        gamma and beta have its extent. https://arxiv.org/abs/1607.06450"""

    @abstractmethod
    def softmax(self, input: TensorHandle, out: TensorHandle, dim: int) -> None:
        """exp(x) / sum of exp(x) along an axis (negative: from the end), stable."""

    @abstractmethod
    def gelu(self, input: TensorHandle, out: TensorHandle, approximate: str = "tanh") -> None:
        """0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³))), or for ``approximate="none"`` the exact
        0.5 x (1 + erf(x / sqrt(2))). https://arxiv.org/abs/1606.08415"""

    @abstractmethod
    def relu(self, input: TensorHandle, out: TensorHandle) -> None:
        """max(x, 0)"""

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
        """softmax(scale q kᵀ + mask) v for q, out [.., S_q, D] and k, v [.., S_kv, D].

        ``mask`` broadcasts to [.., S_q, S_kv]: floats are added, bools mask out where false (a
        row with nothing left is 0); of the leading axes, at most two groups of neighbours may
        be broadcast differently. ``scale`` multiplies, None means 1/sqrt(D).
        """

    @abstractmethod
    def cross_entropy(
        self,
        logits: TensorHandle,
        targets: TensorHandle,
        loss_out: TensorHandle,
        probs_out: TensorHandle,
    ) -> None:
        """-log softmax(logits)[target] for [.., C] logits and [..] i32 targets, NaN where a target
        is no class; loss_out is [..], or a scalar [] for the mean; probs_out is the softmax."""

    @abstractmethod
    def reduce_sum(self, input: TensorHandle, out: TensorHandle, dim: int | None) -> None:
        """The sum along an axis, or of everything for None, into a tensor without that axis
        (or with it as 1). i32, u32, u8 and bool add up modulo 2^32 into i32 or u32."""

    @abstractmethod
    def embedding(self, indices: TensorHandle, weight: TensorHandle, out: TensorHandle) -> None:
        """out[.., :] = weight[indices[..], :] for i32 indices and weight [V, D]. An index outside
        the table gives a row of NaN (0 for whole numbers)."""

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
        """One step of Adam in place on param, m and v, bias-corrected by step (from 1), eps
        outside the root, no weight decay. https://arxiv.org/abs/1412.6980"""

    @abstractmethod
    def gaussian_blur(self, input: TensorHandle, out: TensorHandle, sigma: float) -> None:
        """A Gaussian of sigma pixels, cut at radius ceil(3 sigma), replicated borders. Images are
        [H, W] or [H, W, C], values in 0..1; results of all filters are clamped to that."""

    @abstractmethod
    def sobel_edges(self, input: TensorHandle, out: TensorHandle, threshold: float) -> None:
        """1 where the Sobel gradient magnitude of the luminance is above threshold, else 0."""

    @abstractmethod
    def grayscale(self, input: TensorHandle, out: TensorHandle) -> None:
        """Every colour becomes 0.299 r + 0.587 g + 0.114 b; the shape and alpha stay."""

    @abstractmethod
    def threshold(self, input: TensorHandle, out: TensorHandle, value: float) -> None:
        """1 where x >= value, else 0; alpha stays."""

    @abstractmethod
    def brightness(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """x factor, clamped; alpha stays."""

    @abstractmethod
    def contrast(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """(x - 0.5) factor + 0.5, clamped; alpha stays."""

    @abstractmethod
    def invert_colors(self, input: TensorHandle, out: TensorHandle) -> None:
        """1 - x; alpha stays."""

    @abstractmethod
    def sharpen(self, input: TensorHandle, out: TensorHandle) -> None:
        """The 3 × 3 filter 0 -1 0 / -1 5 -1 / 0 -1 0, replicated borders, clamped; alpha stays."""

    @abstractmethod
    def sync(self) -> None:
        """Waits for all recorded work, and raises what the device reported of it."""

    @abstractmethod
    def dispatch_compute(
        self,
        shader: str | bytes,
        bindings: Sequence[TensorHandle],
        push_constants: Any,
        workgroup_count: int | Sequence[int],
    ) -> None:
        """Runs a compute shader on tensors: WGSL as str or UTF-8 bytes, or SPIR-V.

        ``bindings`` go by index to the storage buffers of @group(0), in the order of their
        binding numbers; ``push_constants`` (bytes-like or None) to ``var<immediate>``. The shader
        has one compute entry point. ``arrayLength`` is of the tensor's bytes, in whole words; an
        empty tensor comes as a word of 0.
        """

    def abi_fingerprint(self) -> str:
        """A hash of this contract's methods: their names, and their arguments' names and kinds."""
        return FINGERPRINT


def methods(*classes: type) -> dict[str, str]:
    """Name and arguments (names, kinds, which may be left out) of every method that the classes
    declare; properties have none. Without classes: of this contract."""
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
    """A hash of :func:`methods`, the same in every process."""
    lines = "\n".join(f"{name}{arguments}" for name, arguments in sorted(methods(*classes).items()))
    return sha256(lines.encode()).hexdigest()[:16]


#: What ``abi_fingerprint`` of a backend must be to fit this version of the contract.
FINGERPRINT = fingerprint()


def require_abi(backend: Any) -> None:
    """Raises Unsupported where a backend was made for another version of the contract."""
    op = "abi_fingerprint"
    ask = getattr(backend, op, None)
    if not callable(ask):
        raise InvalidArgument(op, "backend", backend, "a tensor backend")
    found = ask()
    if found != FINGERPRINT:
        raise Unsupported(
            op,
            f"the backend's fingerprint is {found!r}, this runtime's is {FINGERPRINT!r}; install "
            "versions that belong together",
        )
