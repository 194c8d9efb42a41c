"""What neural networks are made of and trained with."""

from __future__ import annotations

from math import sqrt

from browsergpu.api.tensor_backend.contract import TensorHandle
from browsergpu.api.tensor_backend.store import FLOATS, WHOLE, TensorStore
from browsergpu.array import attention, masks, networks
from browsergpu.core import checks, shapes
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.kernels import adam
from browsergpu.kernels.attention import plan_attention


class Networks(TensorStore):
    """layer_norm, softmax, attention, cross_entropy, embedding, adam_update."""

    def layer_norm(
        self,
        input: TensorHandle,
        gamma: TensorHandle,
        beta: TensorHandle,
        out: TensorHandle,
        eps: float,
    ) -> None:
        op = "layer_norm"
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        scale = self._tensor(op, "gamma", gamma, FLOATS)
        shift = self._tensor(op, "beta", beta, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        small = checks.real(op, "eps", eps)
        if small < 0:
            raise InvalidArgument(op, "eps", eps, "a number of at least 0")
        if not x.shape:
            raise InvalidArgument(op, "input", input, "at least 1 dimension, not a scalar")
        length = x.shape[-1]
        for name, given, tensor in (("gamma", gamma, scale), ("beta", beta, shift)):
            if tensor.shape != (length,):
                raise InvalidArgument(op, name, given, f"shape {(length,)}, not {tensor.shape}")
        self._same_shape(op, "out", out, y, x)
        if x.size:
            networks.layer_norm(device, op, x, y, scale, shift, small)

    def softmax(self, input: TensorHandle, out: TensorHandle, dim: int) -> None:
        op = "softmax"
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        self._same_shape(op, "out", out, y, x)
        axis = shapes.axis(op, "dim", dim, len(x.shape))
        if x.size:
            networks.softmax(device, op, x, y, axis)

    def attention(
        self,
        q: TensorHandle,
        k: TensorHandle,
        v: TensorHandle,
        out: TensorHandle,
        mask: TensorHandle | None,
        scale: float | None,
    ) -> None:
        op = "attention"
        device = self._ready(op)
        queries = self._tensor(op, "q", q, FLOATS)
        keys = self._tensor(op, "k", k, FLOATS)
        values = self._tensor(op, "v", v, FLOATS)
        result = self._tensor(op, "out", out, FLOATS)
        if len(queries.shape) < 2:
            raise InvalidArgument(op, "q", q, f"[.., S_q, D], not shape {queries.shape}")
        *lead, seq_q, head_dim = queries.shape
        if len(keys.shape) < 2 or keys.shape != (*lead, keys.shape[-2], head_dim):
            expected = "[" + ", ".join(map(str, (*lead, "S_kv", head_dim))) + "]"
            raise InvalidArgument(op, "k", k, f"shape {expected}, not {keys.shape}")
        self._same_shape(op, "v", v, values, keys)
        self._same_shape(op, "out", out, result, queries)
        seq_kv = keys.shape[-2]
        factor = 1 / sqrt(max(head_dim, 1)) if scale is None else scale
        plan = plan_attention(checks.product(lead), 1, seq_q, seq_kv, head_dim, factor, False)
        limits = spread = None
        if mask is not None:
            limits = self._tensor(op, "mask", mask, (*FLOATS, DType.BOOL))
            spread = masks.broadcast(op, mask, limits, (*lead, seq_q, seq_kv))
        if result.size:
            attention.attention(device, op, plan, queries, keys, values, result, limits, spread)

    def cross_entropy(
        self,
        logits: TensorHandle,
        targets: TensorHandle,
        loss_out: TensorHandle,
        probs_out: TensorHandle,
    ) -> None:
        op = "cross_entropy"
        device = self._ready(op)
        x = self._tensor(op, "logits", logits, FLOATS)
        goals = self._tensor(op, "targets", targets, (DType.I32,))
        loss = self._tensor(op, "loss_out", loss_out, FLOATS)
        probs = self._tensor(op, "probs_out", probs_out, FLOATS)
        if not x.shape or x.shape[-1] == 0:
            raise InvalidArgument(op, "logits", logits, f"[.., C], C > 0, not shape {x.shape}")
        lead = x.shape[:-1]
        if goals.shape != lead:
            raise InvalidArgument(op, "targets", targets, f"shape {lead}, not {goals.shape}")
        if loss.shape not in (lead, ()):
            raise InvalidArgument(op, "loss_out", loss_out, f"shape {lead} or (), not {loss.shape}")
        self._same_shape(op, "probs_out", probs_out, probs, x)
        networks.cross_entropy(device, op, x, goals, loss, probs)

    def embedding(self, indices: TensorHandle, weight: TensorHandle, out: TensorHandle) -> None:
        op = "embedding"
        device = self._ready(op)
        which = self._tensor(op, "indices", indices, (DType.I32,))
        table = self._tensor(op, "weight", weight, (*FLOATS, *WHOLE))
        y = self._tensor(op, "out", out, (*FLOATS, *WHOLE))
        if len(table.shape) != 2:
            raise InvalidArgument(op, "weight", weight, f"[V, D], not shape {table.shape}")
        expected = (*which.shape, table.shape[1])
        if y.shape != expected:
            raise InvalidArgument(op, "out", out, f"shape {expected}, not {y.shape}")
        if y.dtype.is_float != table.dtype.is_float or (
            y.dtype.is_whole and y.dtype is not table.dtype
        ):
            raise InvalidArgument(op, "out", out, f"a dtype as weight's {table.dtype}")
        if y.size:
            networks.embedding(device, op, which, table, y)

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
        op = "adam_update"
        device = self._ready(op)
        weights = self._tensor(op, "param", param, FLOATS)
        gradient = self._tensor(op, "grad", grad, FLOATS)
        first = self._tensor(op, "m", m, FLOATS)
        second = self._tensor(op, "v", v, FLOATS)
        for name, given, tensor in (("grad", grad, gradient), ("m", m, first), ("v", v, second)):
            self._same_shape(op, name, given, tensor, weights)
        if len({t.handle for t in (weights, gradient, first, second)}) < 4:
            raise InvalidArgument(op, "param", param, "four different tensors")
        rate = checks.real(op, "lr", lr)
        betas = [checks.real(op, name, b) for name, b in (("beta1", beta1), ("beta2", beta2))]
        for name, beta in zip(("beta1", "beta2"), betas, strict=True):
            if not 0 <= beta < 1:
                raise InvalidArgument(op, name, beta, "a number from 0 up to, not including, 1")
        small = checks.real(op, "eps", eps)
        if small < 0:
            raise InvalidArgument(op, "eps", eps, "a number of at least 0")
        number = checks.integer(op, "step", step, 1)
        if weights.size:
            factors = adam.factors(lr=rate, beta1=betas[0], beta2=betas[1], eps=small, step=number)
            networks.adam(device, op, weights, gradient, first, second, factors)
