"""Random numbers from NumPy in place of those of ``torch``, so that two packages draw the same.

Initial weights, orders of samples, random tensors and draws of ``Categorical`` are then equal.
Dropout does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


class _Weights:
    """Writes initial weights, in the order of the parameters, once for each."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._draw = np.random.RandomState(0)
        self._written: list[Any] = []

    def write(self, parameters: Iterable[Any]) -> None:
        """Write uniform values by the fan-in. Longer vectors that are constant stay."""
        for one in parameters:
            if any(one is other for other in self._written):
                continue
            self._written.append(one)
            shape = tuple(one.shape)
            values = one.detach().cpu().numpy()
            if len(shape) < 2 and values.size > 1 and (values == values.flat[0]).all():
                continue
            bound = 0.1 if len(shape) < 2 else np.prod(shape[1:]) ** -0.5
            own = self._draw.uniform(-bound, bound, shape).astype(np.float32)
            with self._torch.no_grad():
                one.copy_(self._torch.from_numpy(own))


def install(torch: Any) -> None:
    """Replace the random functions of ``torch``."""
    weights = _Weights(torch)
    draw = np.random.RandomState(1)
    orders = np.random.RandomState(2)

    init, train = torch.optim.Optimizer.__init__, torch.nn.Module.train

    def with_weights(self: Any, params: Any, *args: Any, **options: Any) -> None:
        groups = list(params)
        for group in groups:
            weights.write(group["params"] if isinstance(group, dict) else [group])
        init(self, groups, *args, **options)

    def trained(self: Any, mode: bool = True) -> Any:
        weights.write(self.parameters())
        return train(self, mode)

    torch.optim.Optimizer.__init__ = with_weights
    torch.nn.Module.train = trained

    def order(self: Any) -> Iterator[int]:
        total, left = len(self.data_source), self.num_samples
        while left > 0:
            size = min(left, total)
            drawn = (
                orders.randint(0, total, size) if self.replacement else orders.permutation(total)
            )
            yield from drawn[:size].tolist()
            left -= size

    torch.utils.data.RandomSampler.__iter__ = order

    def made(values: Any, options: dict[str, Any]) -> Any:
        kept = {name: options[name] for name in ("dtype", "device") if name in options}
        found = (
            torch.from_numpy(np.asarray(values)).to(**kept) if kept else torch.from_numpy(values)
        )
        return found.requires_grad_() if options.get("requires_grad") else found

    def of_shape(function: Callable[..., Any]) -> Callable[..., Any]:
        def drawn(*size: Any, **options: Any) -> Any:
            shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
            return made(np.asarray(function(*map(int, shape)), np.float32), options)

        return drawn

    def like(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, **options: made(
            np.asarray(function(*x.shape), np.float32), {"device": x.device} | options
        )

    def randint(*args: Any, size: Any = None, **options: Any) -> Any:
        *limits, shape = args if size is None else (*args, size)
        low, high = limits if len(limits) == 2 else (0, *limits)
        return made(draw.randint(low, high, tuple(shape)).astype(np.int64), options)

    torch.rand, torch.randn = of_shape(draw.rand), of_shape(draw.randn)
    torch.rand_like, torch.randn_like = like(draw.rand), like(draw.randn)
    torch.randint = randint
    torch.randperm = lambda n, **options: made(draw.permutation(n).astype(np.int64), {})

    def sample(self: Any, sample_shape: Any = ()) -> Any:
        assert not tuple(sample_shape)
        logits = self.logits.detach().cpu().numpy()
        found = np.argmax(logits + draw.gumbel(size=logits.shape), -1)
        return torch.from_numpy(np.asarray(found, np.int64))

    torch.distributions.Categorical.sample = sample

    def kept(self: Any, x: Any) -> Any:
        return x

    for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
        getattr(torch.nn, name).forward = kept
    torch.nn.functional.dropout = lambda x, *_, **__: x
