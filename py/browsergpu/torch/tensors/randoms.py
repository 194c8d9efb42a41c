"""Random tensors. ``manual_seed`` seeds them, layers and data loaders."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import data_types, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting
from browsergpu.functions.random.generator import default_rng
from browsergpu.networks import seeding
from browsergpu.torch.tensors.creation import check_layout, finished, shape_of
from browsergpu.torch.tensors.devices import device_of
from browsergpu.torch.tensors.dtypes import INT64, default_float, dtype_of
from browsergpu.torch.tensors.public import public


class Generator(Shown):
    """A generator of random numbers. Its device is always the GPU."""

    def __init__(self, device: Any = None) -> None:
        device_of("Generator", device)
        self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
        self.rng = default_rng(self._seed)

    def manual_seed(self, seed: int) -> Generator:
        """Set the seed, and return the generator."""
        self._seed = int(seed) % 2**64
        self.rng = default_rng(self._seed)
        return self

    def initial_seed(self) -> int:
        """Return the seed."""
        return self._seed

    def seed(self) -> int:
        """Set a random seed, and return it."""
        return self.manual_seed(np.random.SeedSequence().generate_state(1)[0]).initial_seed()


default_generator = Generator()


def rng_of(generator: Any) -> Any:
    """Return the engine's generator."""
    if generator is None:
        return default_generator.rng
    if not isinstance(generator, Generator):
        raise InvalidType("Generator", "generator", generator, "a torch.Generator or None")
    return generator.rng


@public(method=False)
def manual_seed(seed: int) -> Generator:
    """Seed all random numbers, also those of layers."""
    seeding.seed(int(seed) % 2**64)
    return default_generator.manual_seed(seed)


@public(method=False)
def initial_seed() -> int:
    """Return the seed."""
    return default_generator.initial_seed()


@public("seed", method=False)
def seed_() -> int:
    """Set a random seed, and return it."""
    found: int = manual_seed(int(np.random.SeedSequence().generate_state(1)[0])).initial_seed()
    return found


@public(method=False)
def get_rng_state() -> Any:
    """Return the state of the generators, for ``set_rng_state``."""
    return default_generator.rng.place, seeding.stream().state


@public(method=False)
def set_rng_state(new_state: Any) -> None:
    """Set the state of the generators."""
    place, seeding.stream().state = new_state
    default_generator.rng.bit_generator.restart(place)


def _of_parts(draw: Any, scale: float) -> Any:
    """Return complex numbers whose parts are drawn and scaled."""
    return draw() * scale + draw() * (1j * scale)


def _drawn(name: str, draw: Any, scale: float) -> None:
    def function(
        *size: Any, generator: Any = None, dtype: Any = None, device: Any = None,
        requires_grad: bool = False, layout: Any = None, pin_memory: bool = False, **also: Any,
    ) -> Any:  # fmt: skip
        size = (also.pop("size"),) if "size" in also else size
        if also:
            raise InvalidArgument(name, "arguments", also, "those of PyTorch")
        check_layout(name, layout, pin_memory)
        device_of(name, device)
        kind = dtype_of(name, dtype) or default_float()
        if kind.kind not in "fc":
            raise InvalidType(name, "dtype", kind, "a float or complex dtype")
        rng, shape = rng_of(generator), shape_of(name, size)
        found = _of_parts(lambda: draw(rng, shape), scale) if kind.kind == "c" else draw(rng, shape)
        return finished(data_types.astype(found, kind, copy=False), requires_grad)

    function.__name__ = name
    function.__doc__ = f"Return random numbers, as ``torch.{name}``."
    public(name, method=False)(function)

    def like(input: Any, **options: Any) -> Any:
        options.pop("memory_format", None)
        options.setdefault("dtype", input.dtype)
        return function(tuple(input.shape), **options)

    like.__doc__ = f"Return random numbers in the shape of a tensor, as ``torch.{name}``."
    like.__name__ = f"{name}_like"
    public(f"{name}_like", method=False)(like)


#: The variance of a complex number is that of its parts together.
_NORMAL_PART = 0.5**0.5
_drawn("rand", lambda rng, shape: rng.random(shape), 1.0)
_drawn("randn", lambda rng, shape: rng.standard_normal(shape), _NORMAL_PART)


@public(method=False)
def randint(
    low: int, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Return random integers from low to high, without high."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    device_of("randint", device)
    kind = dtype_of("randint", dtype) or INT64
    found = rng_of(generator).integers(int(low), int(high), tuple(size))
    return finished(data_types.astype(found, kind, copy=False), requires_grad)


@public(method=False)
def randint_like(input: Any, low: int, high: Any = None, **options: Any) -> Any:
    """Return random integers in the shape of a tensor."""
    options.setdefault("dtype", input.dtype)
    return randint(low, high, tuple(input.shape), **options)


@public(method=False)
def randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Return the integers from 0 to n, without n, in random order."""
    device_of("randperm", device)
    found = rng_of(generator).permutation(int(n))
    return data_types.astype(found, dtype_of("randperm", dtype) or INT64, copy=False)


@public("bernoulli")
def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
    """Return 1 with the probabilities of the tensor, else 0."""
    chance = input if p is None else p
    drawn = rng_of(generator).random(tuple(input.shape))
    return data_types.astype(elementwise.less(drawn, chance), input.dtype)


@public(method=False)
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None,
    device: Any = None, requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return normally distributed numbers."""
    check_layout("normal", layout, pin_memory)
    device_of("normal", device)
    if size is None:
        size = manipulation.broadcast_shapes(
            *[tuple(x.shape) for x in (mean, std) if isinstance(x, Array)]
        )
    drawn = rng_of(generator).standard_normal(tuple(size)) * std + mean
    kind = dtype_of("normal", dtype)
    found = drawn if kind is None else data_types.astype(drawn, kind, copy=False)
    return finished(found, requires_grad)


@public()
def poisson(input: Any, generator: Any = None) -> Any:
    """Return Poisson numbers with the rates of the tensor."""
    return data_types.astype(rng_of(generator).poisson(input), input.dtype)


@public()
def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Return indices that are drawn with the weights of each row."""
    rng = rng_of(generator)
    own = input.detach()
    if num_samples < 1 or (not replacement and num_samples > own.shape[-1]):
        most = "at least 1" if replacement else f"from 1 to {own.shape[-1]} without replacement"
        raise InvalidArgument("multinomial", "num_samples", num_samples, most)
    if replacement:
        totals = sorting.cumulative_sum(data_types.astype(own, "float32"), axis=-1)
        drawn = rng.random((*own.shape[:-1], num_samples)) * totals[..., -1:]
        ahead = elementwise.greater_equal(drawn[..., None], totals[..., None, :])
        found = statistics.sum(ahead, axis=-1)
        return elementwise.minimum(found, own.shape[-1] - 1)
    noise = -elementwise.log(1 - rng.random(tuple(own.shape)))  # exponential races
    scores = elementwise.where(own > 0, noise / own, ABOVE.namespace.inf)
    order = sorting.argsort(scores, axis=-1)
    return order[..., :num_samples]


def fork_rng(devices: Any = (), enabled: bool = True) -> Any:
    """Return a context after which the generators have their state again."""
    from contextlib import contextmanager

    @contextmanager
    def kept() -> Any:
        state = get_rng_state() if enabled else None
        try:
            yield
        finally:
            if state is not None:
                set_rng_state(state)

    del devices
    return kept()
