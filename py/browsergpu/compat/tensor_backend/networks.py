"""Neural network operations, including a training step."""

from __future__ import annotations

from browsergpu.compat.tensor_backend.handles import TensorHandle
from browsergpu.compat.tensor_backend.store import TensorStore
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.dtypes import FLOATS, WHOLE, DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.kernels.networks import adam
from browsergpu.engine.tensors import attention, nn
from browsergpu.engine.tensors.operand_checks import has_shape


class Networks(TensorStore):
    """The methods layer_norm, softmax, attention, cross_entropy, embedding and adam_update."""

    def layer_norm(
        self,
        input: TensorHandle,
        gamma: TensorHandle,
        beta: TensorHandle,
        out: TensorHandle,
        eps: float,
    ) -> None:
        """Compute (x - mean) / sqrt(variance + eps) * gamma + beta along the last axis.

        The variance is the biased one. https://arxiv.org/abs/1607.06450

        Parameters
        ----------
        input, out : TensorHandle
            Tensors of one shape, with at least one axis.
        gamma, beta : TensorHandle
            Vectors with the axis's extent.
        eps : float
            A number of at least 0.
        """
        op = "layer_norm"
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        scale = self._tensor(op, "gamma", gamma, FLOATS)
        shift = self._tensor(op, "beta", beta, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        small = nn.check_layer_norm(op, "input", x, scale, shift, eps)
        has_shape(op, "out", y, x.shape)
        if x.size:
            nn.layer_norm(device, op, x, y, scale, shift, small)

    def softmax(self, input: TensorHandle, out: TensorHandle, dim: int) -> None:
        """Compute exp(x) / sum of exp(x) along an axis, numerically stable.

        Negative axes count from the end.
        """
        op = "softmax"
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        has_shape(op, "out", y, x.shape)
        axis = shapes.axis(op, "dim", dim, len(x.shape))
        if x.size:
            nn.softmax(device, op, x, y, axis)

    def attention(
        self,
        q: TensorHandle,
        k: TensorHandle,
        v: TensorHandle,
        out: TensorHandle,
        mask: TensorHandle | None,
        scale: float | None,
    ) -> None:
        """Compute softmax(scale q kᵀ + mask) v.

        Parameters
        ----------
        q, out : TensorHandle
            [..., S_q, D].
        k, v : TensorHandle
            [..., S_kv, D].
        mask : TensorHandle or None
            Broadcasts to [..., S_q, S_kv]. A float mask is added. A bool mask is False where a key
            is masked out; a row without keys gives 0. At most two groups of neighboring leading
            axes may be broadcast differently.
        scale : float or None
            A factor. None means 1/sqrt(D).
        """
        op = "attention"
        device = self._ready(op)
        queries = self._tensor(op, "q", q, FLOATS)
        keys = self._tensor(op, "k", k, FLOATS)
        values = self._tensor(op, "v", v, FLOATS)
        result = self._tensor(op, "out", out, FLOATS)
        limits = None if mask is None else self._tensor(op, "mask", mask, (*FLOATS, DType.BOOL))
        plan, spread = attention.plan(op, queries, keys, values, limits, scale, causal=False)
        has_shape(op, "out", result, queries.shape)
        if result.size:
            attention.attention(device, op, plan, queries, keys, values, result, limits, spread)

    def cross_entropy(
        self,
        logits: TensorHandle,
        targets: TensorHandle,
        loss_out: TensorHandle,
        probs_out: TensorHandle,
    ) -> None:
        """Compute -log softmax(logits)[target].

        Parameters
        ----------
        logits : TensorHandle
            [..., C].
        targets : TensorHandle
            Classes [...] of dtype i32. The result is NaN for a target that is not a class.
        loss_out : TensorHandle
            The result [...], or a scalar [] for the mean.
        probs_out : TensorHandle
            The softmax [..., C].
        """
        op = "cross_entropy"
        device = self._ready(op)
        x = self._tensor(op, "logits", logits, FLOATS)
        goals = self._tensor(op, "targets", targets, (DType.I32,))
        loss = self._tensor(op, "loss_out", loss_out, FLOATS)
        probs = self._tensor(op, "probs_out", probs_out, FLOATS)
        if not x.shape or x.shape[-1] == 0:
            raise InvalidArgument(op, "logits", x, "have shape [.., C], C > 0")
        lead = x.shape[:-1]
        has_shape(op, "targets", goals, lead)
        if loss.shape not in (lead, ()):
            raise InvalidArgument(op, "loss_out", loss, f"have shape {lead} or ()")
        has_shape(op, "probs_out", probs, x.shape)
        nn.cross_entropy(device, op, x, goals, loss, probs)

    def embedding(self, indices: TensorHandle, weight: TensorHandle, out: TensorHandle) -> None:
        """Compute out[..., :] = weight[indices[...], :] for i32 indices and weight [V, D].

        An index out of range gives a row of NaN (0 for integers).
        """
        op = "embedding"
        device = self._ready(op)
        which = self._tensor(op, "indices", indices, (DType.I32,))
        table = self._tensor(op, "weight", weight, (*FLOATS, *WHOLE))
        y = self._tensor(op, "out", out, (*FLOATS, *WHOLE))
        if len(table.shape) != 2:
            raise InvalidArgument(op, "weight", table, "have shape [V, D]")
        has_shape(op, "out", y, (*which.shape, table.shape[1]))
        if y.dtype.is_float != table.dtype.is_float or (
            y.dtype.is_whole and y.dtype is not table.dtype
        ):
            raise InvalidArgument(op, "out", y, f"have weight's dtype, {table.dtype}")
        if y.size:
            nn.embedding(device, op, which, table, y)

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

        There is no weight decay. https://arxiv.org/abs/1412.6980

        Parameters
        ----------
        param, grad, m, v : TensorHandle
            Four different tensors of one shape: the parameters, their gradient, and the running
            means of the gradient and of its square.
        lr : float
            Learning rate.
        beta1, beta2 : float
            Decay rates of m and v, at least 0 and below 1.
        eps : float
            A number of at least 0, added after the root.
        step : int
            The step number (from 1), which corrects the bias.
        """
        op = "adam_update"
        device = self._ready(op)
        weights = self._tensor(op, "param", param, FLOATS)
        gradient = self._tensor(op, "grad", grad, FLOATS)
        first = self._tensor(op, "m", m, FLOATS)
        second = self._tensor(op, "v", v, FLOATS)
        for name, tensor in (("grad", gradient), ("m", first), ("v", second)):
            has_shape(op, name, tensor, weights.shape)
        if len({t.handle for t in (weights, gradient, first, second)}) < 4:
            raise InvalidArgument(op, "param", param, "four different tensors")
        rate = checks.real(op, "lr", lr)
        betas = [checks.real(op, name, b) for name, b in (("beta1", beta1), ("beta2", beta2))]
        for name, beta in zip(("beta1", "beta2"), betas, strict=True):
            if not 0 <= beta < 1:
                raise InvalidArgument(op, name, beta, "a number of at least 0 and below 1")
        small = checks.nonnegative(op, "eps", eps)
        number = checks.integer(op, "step", step, 1)
        if weights.size:
            factors = adam.factors(lr=rate, beta1=betas[0], beta2=betas[1], eps=small, step=number)
            nn.adam(device, op, weights, gradient, first, second, factors)
