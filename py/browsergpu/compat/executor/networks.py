"""Neural network operations: convolution, activations, normalization and pooling."""

from __future__ import annotations

from typing import Any, NamedTuple

from browsergpu.compat.executor.base import ExecutorBase
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import FLOATS, DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.remembered import hashable
from browsergpu.engine.kernels.convolution import conv2d, pool
from browsergpu.engine.tensors import nn, pointwise
from browsergpu.engine.tensors.device_array import DeviceArray
from browsergpu.engine.tensors.operand_checks import has_shape

Pair = int | tuple[int, int]


class BatchNormTraining(NamedTuple):
    """Results of batch normalization in training.

    Attributes
    ----------
    output : DeviceArray
        The normalized batch.
    mean, variance : DeviceArray
        The mean and the biased variance of each channel.
    """

    output: DeviceArray
    mean: DeviceArray
    variance: DeviceArray


class Networks(ExecutorBase):
    """The methods conv2d to avg_pool2d of a KernelExecutor.

    Images are [N, C, H, W]. Operations take floats, and compute f16 in float32. A pair is
    (vertical, horizontal), or one number for both.
    """

    def conv2d(
        self,
        x: DeviceArray,
        w: DeviceArray,
        bias: DeviceArray | None = None,
        *,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return the cross-correlation of images with filters, plus a bias for each filter.

        Parameters
        ----------
        x : DeviceArray
            [N, C, H, W], padded with zeros.
        w : DeviceArray
            [F, C / groups, R, S].
        bias : DeviceArray, optional
            [F].
        stride, padding, dilation : int or tuple
            Pairs.
        groups : int
            Number of groups of channels.
        out : DeviceArray, optional
            Array for the result.

        Returns
        -------
        DeviceArray
            [N, F, P, Q] with P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, and Q
            likewise.
        """
        op = "conv2d"
        kind = self._floats(op, x=x, w=w)
        plan = conv2d.plan_conv2d(
            op, x.shape, w.shape, None, hashable(stride), hashable(padding),
            hashable(dilation), groups,
        )  # fmt: skip
        if bias is not None:
            has_shape(op, "bias", self._array(op, "bias", bias, FLOATS), w.shape[:1])
        result = self._out(op, out, plan.output_shape, kind)
        if result.size:
            nn.conv2d(self.device, op, plan, x, w, result, bias)
        return result

    def relu(self, x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
        """Return max(x, 0)."""
        return self._unary("relu", x, out)

    def sigmoid(self, x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
        """Return 1 / (1 + exp(-x))."""
        return self._unary("sigmoid", x, out)

    def tanh(self, x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
        """Return the hyperbolic tangent."""
        return self._unary("tanh", x, out)

    def _unary(self, op: str, x: DeviceArray, out: DeviceArray | None) -> DeviceArray:
        kind = self._floats(op, x=x)
        result = self._out(op, out, x.shape, kind)
        if x.size:
            pointwise.unary(self.device, op, op, x, result)
        return result

    def softmax(
        self, x: DeviceArray, axis: int = -1, out: DeviceArray | None = None
    ) -> DeviceArray:
        """Return exp(x) divided by its sum along an axis. Large values do not overflow."""
        op = "softmax"
        kind = self._floats(op, x=x)
        at = self._axis(op, axis, x.ndim)
        result = self._out(op, out, x.shape, kind)
        if x.size:
            nn.softmax(self.device, op, x, result, at)
        return result

    def layer_norm(
        self,
        x: DeviceArray,
        gamma: DeviceArray | None = None,
        beta: DeviceArray | None = None,
        *,
        eps: float = 1e-5,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return (x - mean) / sqrt(variance + eps) * gamma + beta along the last axis.

        The variance is the biased one.
        """
        op = "layer_norm"
        kind = self._floats(op, x=x)
        return self._layer_norm(op, kind, x, None, gamma, beta, eps, out, None)

    def add_layer_norm(
        self,
        x: DeviceArray,
        residual: DeviceArray,
        gamma: DeviceArray | None = None,
        beta: DeviceArray | None = None,
        *,
        eps: float = 1e-5,
        out: DeviceArray | None = None,
        summed: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return :meth:`layer_norm` of x + residual, which have the same shape.

        It is faster than :meth:`add` followed by :meth:`layer_norm`. If ``summed`` is given, x +
        residual is written to it.
        """
        op = "add_layer_norm"
        kind = self._floats(op, x=x, residual=residual)
        has_shape(op, "residual", residual, x.shape)
        return self._layer_norm(op, kind, x, residual, gamma, beta, eps, out, summed)

    def _layer_norm(
        self,
        op: str,
        kind: DType,
        x: DeviceArray,
        residual: DeviceArray | None,
        gamma: DeviceArray | None,
        beta: DeviceArray | None,
        eps: float,
        out: DeviceArray | None,
        summed: DeviceArray | None,
    ) -> DeviceArray:
        factors = self._factors(op, gamma, beta)
        small = nn.check_layer_norm(op, "x", x, *factors, eps)
        if summed is not None:
            self._array(op, "summed", summed, FLOATS)
            summed.check_packed(op, "summed")
            has_shape(op, "summed", summed, x.shape)
        result = self._out(op, out, x.shape, kind)
        if summed is not None and summed.buffer is result.buffer:
            raise InvalidArgument(op, "summed", summed, "have memory other than out's")
        if x.size:
            nn.layer_norm(self.device, op, x, result, *factors, small, residual, summed)
        return result

    def batch_norm(
        self,
        x: DeviceArray,
        running_mean: DeviceArray | None = None,
        running_variance: DeviceArray | None = None,
        gamma: DeviceArray | None = None,
        beta: DeviceArray | None = None,
        *,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return (x - mean) / sqrt(variance + eps) * gamma + beta for each channel of [N, C, ...].

        Inference uses the running statistics. With ``training``, the result is the output of
        :meth:`batch_norm_training`.
        """
        op = "batch_norm"
        if checks.flag(op, "training", training):
            return self.batch_norm_training(
                x, running_mean, running_variance, gamma, beta, momentum=momentum, eps=eps, out=out
            ).output
        shape = self._channels(op, x)
        if running_mean is None or running_variance is None:
            name = "running_mean" if running_mean is None else "running_variance"
            raise InvalidArgument(op, name, None, "an array (or training=True)")
        mean = self._array(op, "running_mean", running_mean, FLOATS)
        variance = self._array(op, "running_variance", running_variance, FLOATS)
        factors = self._factors(op, gamma, beta)
        small = nn.check_batch_norm(op, shape[1], mean, variance, *factors, eps)
        result = self._out(op, out, x.shape, x.dtype)
        if x.size:
            self._normalise(op, x, mean, variance, factors, result, shape, small)
        return result

    def batch_norm_training(
        self,
        x: DeviceArray,
        running_mean: DeviceArray | None = None,
        running_variance: DeviceArray | None = None,
        gamma: DeviceArray | None = None,
        beta: DeviceArray | None = None,
        *,
        momentum: float = 0.1,
        eps: float = 1e-5,
        out: DeviceArray | None = None,
    ) -> BatchNormTraining:
        """Return :meth:`batch_norm` by the statistics of the batch, and these statistics.

        Given running statistics (f32) are updated in place to (1 - momentum) running + momentum
        batch, with the unbiased variance of the batch.
        """
        op = "batch_norm"
        shape = self._channels(op, x)
        channels = shape[1]
        if x.size and shape[0] * shape[2] < 2:
            raise InvalidArgument(
                op, "x", x, "have at least 2 elements in each channel for training"
            )
        share = checks.fraction(op, "momentum", momentum)
        running = {"running_mean": running_mean, "running_variance": running_variance}
        for name, given in running.items():
            if given is not None:
                self._array(op, name, given, (DType.F32,)).check_packed(op, name)
        if running_mean is not None and running_variance is not None:
            _apart(op, "running_variance", running_variance, running_mean)
        factors = self._factors(op, gamma, beta)
        small = nn.check_batch_norm(op, channels, running_mean, running_variance, *factors, eps)
        for name, given in running.items():
            if given is not None:
                _apart(op, name, given, x, *(f for f in factors if f is not None))
        result = self._out(op, out, x.shape, x.dtype)
        mean = DeviceArray.allocate(self.device, op, (channels,), DType.F32)
        variance = DeviceArray.allocate(self.device, op, (channels,), DType.F32)
        if x.size == 0:
            for array in (mean, variance):
                self.fill(array, float("nan"))
            return BatchNormTraining(result, mean, variance)
        nn.batch_statistics(
            self.device, op, x, mean, variance, running_mean, running_variance, shape, share
        )
        self._normalise(op, x, mean, variance, factors, result, shape, small)
        return BatchNormTraining(result, mean, variance)

    def _channels(self, op: str, x: DeviceArray) -> tuple[int, int, int]:
        """Return the shape of x as [N, C, all other elements]."""
        self._floats(op, x=x)
        if x.ndim < 2:
            raise InvalidArgument(op, "x", x, "have shape [N, C, ...]")
        return x.shape[0], x.shape[1], product(x.shape[2:])

    def _normalise(
        self,
        op: str,
        x: DeviceArray,
        mean: DeviceArray,
        variance: DeviceArray,
        factors: tuple[DeviceArray | None, DeviceArray | None],
        result: DeviceArray,
        shape: tuple[int, int, int],
        eps: float,
    ) -> None:
        nn.batch_norm(self.device, op, x, result, mean, variance, *factors, shape, eps)

    def _factors(
        self, op: str, gamma: Any, beta: Any
    ) -> tuple[DeviceArray | None, DeviceArray | None]:
        return (
            None if gamma is None else self._array(op, "gamma", gamma, FLOATS),
            None if beta is None else self._array(op, "beta", beta, FLOATS),
        )

    # -- pooling ---------------------------------------------------------------------------------

    def max_pool2d(
        self,
        x: DeviceArray,
        kernel: Pair,
        stride: Pair | None = None,
        padding: Pair = 0,
        dilation: Pair = 1,
        ceil_mode: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return the maximum of each window. Padding is ignored.

        Windows do not overlap by default. ``ceil_mode`` keeps a last window that extends beyond the
        end.
        """
        op = "max_pool2d"
        kind = self._floats(op, x=x)
        plan = self._plan(op, x, kernel, stride, padding, dilation, ceil_mode)
        result = self._out(op, out, plan.output_shape, kind)
        nn.pool(self.device, op, "max", plan, x, result)
        return result

    def max_pool2d_with_indices(
        self,
        x: DeviceArray,
        kernel: Pair,
        stride: Pair | None = None,
        padding: Pair = 0,
        dilation: Pair = 1,
        ceil_mode: bool = False,
    ) -> tuple[DeviceArray, DeviceArray]:
        """Return the result of :meth:`max_pool2d`, and the position of each maximum.

        Positions are row × W + column in the [H, W] plane, as i32. The first of equal maxima
        counts.
        """
        op = "max_pool2d_with_indices"
        kind = self._floats(op, x=x)
        plan = self._plan(op, x, kernel, stride, padding, dilation, ceil_mode)
        result = self._out(op, None, plan.output_shape, kind)
        indices = self._out(op, None, plan.output_shape, DType.I32)
        nn.pool(self.device, op, "max", plan, x, result, indices)
        return result, indices

    def avg_pool2d(
        self,
        x: DeviceArray,
        kernel: Pair,
        stride: Pair | None = None,
        padding: Pair = 0,
        dilation: Pair = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return the mean of each window, with or without the zeros of the padding."""
        op = "avg_pool2d"
        kind = self._floats(op, x=x)
        padded = checks.flag(op, "count_include_pad", count_include_pad)
        plan = self._plan(op, x, kernel, stride, padding, dilation, ceil_mode)
        result = self._out(op, out, plan.output_shape, kind)
        function = "mean_padded" if padded else "mean"
        nn.pool(self.device, op, function, plan, x, result)
        return result

    @staticmethod
    def _plan(op: str, x: DeviceArray, *arguments: Any) -> pool.PoolPlan:
        return pool.plan_pool(op, x.shape, *map(hashable, arguments))


def _apart(op: str, name: str, array: DeviceArray, *others: DeviceArray) -> None:
    if any(array.buffer is other.buffer for other in others):
        raise InvalidArgument(op, name, array, "have memory of its own, since it changes in place")
