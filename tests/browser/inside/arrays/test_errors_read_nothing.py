"""No error message reads the GPU's memory, whichever argument is an array.

Each public function, method and class is called with arrays, and with objects that hold arrays, in
place of one argument at a time, while reads raise. Refused calls must be refused with the same
message in a block of ``capture()``, which cannot read either.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from inside.arrays.test_own_arguments import CASES, _functions, _on_gpu

pytestmark = [pytest.mark.native, pytest.mark.firefox, pytest.mark.all]

Make = Callable[[], Any]


class Read(BaseException):
    """Raised by each read of the GPU's memory."""


class Holder:
    """A user's object whose repr shows an array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"Holder({self.array!r})"


class Call(NamedTuple):
    """A call that may be refused: the function's name, its arguments as text, and the call."""

    name: str
    text: str
    made: Callable[[], Any]


#: Replacements of an argument. Arrays with one element stand for numbers, which are read.
VALUES: dict[str, Callable[[Any], Any]] = {
    "floats": lambda bg: bg.ones((2, 5)),
    "whole numbers": lambda bg: bg.asarray([[3, -2, 9]]),
    "bools": lambda bg: bg.ones((2, 2), dtype=bool),
    "complex numbers": lambda bg: bg.ones((7,), dtype="complex64"),
    "bytes": lambda bg: bg.ones((1, 2, 3), dtype="uint8"),
    "a recorded operation": lambda bg: bg.ones((2, 5)) * 2 + 1,
    "a view": lambda bg: bg.ones((4, 6))[::2, 1:].T,
    "an array with a gradient": lambda bg: bg.ones((2, 5)).requires_grad_(),
    "a list": lambda bg: [bg.ones((2, 5)), "text"],
    "a dict": lambda bg: {"x": (bg.ones((3,)), {1: bg.ones((2,))})},
    "a function": lambda bg: functools.partial(print, bg.ones((2,))),
    "an object": lambda bg: Holder(bg.ones((2,))),
}
#: Functions that read an array's values on purpose, and may then refuse them.
LOOKS_AT_VALUES = {
    "Array.__dlpack__", "data.ChainDataset", "data.ConcatDataset", "data.Subset", "draw",
    "fft.fft2", "fft.ifft2", "fft.irfft2", "fft.rfft2", "fromfunction", "histogram",
    "histogram_bin_edges", "histogramdd", "indices", "intersect1d", "linalg.tensorsolve",
    "nanpercentile", "nanquantile", "nditer", "percentile", "piecewise", "place", "quantile",
    "rot90", "setdiff1d", "setxor1d", "unique",
}  # fmt: skip
#: Functions that open, close or measure a GPU.
LEFT_OUT = {
    "init", "init_async", "devices", "devices_async", "recover", "recover_async", "tune",
    "tune_async", "benchmark_workgroup_sizes", "benchmark_workgroup_sizes_async",
}  # fmt: skip
_INTERNAL = ("__init__", "__del__", "__repr__", "__array_function__", "__array_ufunc__")


def functions(bg: Any) -> Iterator[tuple[str, Callable[..., Any], list[Make] | None]]:
    """Yield public functions, methods and classes, with makers of valid operands if known."""
    for name, function in _functions(bg):
        operands = None
        if name in CASES:
            operands = [functools.partial(_on_gpu, bg, value) for value in CASES[name].operands]
        if name.startswith("Generator."):
            function = getattr(bg.random.default_rng(1), name.partition(".")[2])
        if name not in LEFT_OUT and function.__module__.startswith("browsergpu"):
            yield name, function, operands
    for name in dir(bg.Array):
        method = getattr(bg.Array, name)
        is_own = name.startswith("__") or not name.startswith("_")
        if inspect.isfunction(method) and is_own and name not in _INTERNAL:
            yield f"Array.{name}", method, None
    for module in ("nn", "optim", "optim.lr_scheduler", "data", "amp", ""):
        owner = functools.reduce(getattr, module.split("."), bg) if module else bg
        for name in owner.__all__:
            kind = getattr(owner, name)
            is_own = inspect.isclass(kind) and kind.__module__.startswith("browsergpu")
            if is_own and not issubclass(
                kind, BaseException | enum.Enum | bg.Device | bg.Array | bg.DeviceArray
            ):
                yield f"{module}.{name}".removeprefix("."), kind, None


def calls(bg: Any) -> Iterator[Call]:
    """Yield calls of each function with each value in place of each argument."""
    for name, function, operands in functions(bg):
        parameters = list(inspect.signature(function).parameters.values())
        optional = [
            p.name
            for p in parameters
            if p.kind is p.KEYWORD_ONLY
            or (p.default is not p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)
        ]
        needed = [
            p
            for p in parameters
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        good: list[Make] = operands or [lambda: bg.ones((3, 3)) for _ in needed]
        first = 1 if name.startswith("Array.") else 0  # skip the array itself
        for kind, value in VALUES.items():
            given = functools.partial(value, bg)
            for at in range(first, len(good)):
                made = [*good[:at], given, *good[at + 1 :]]
                yield Call(name, f"{kind} as {at}", _call(function, made, {}))
            for own in optional:
                yield Call(name, f"{kind} as {own}", _call(function, good, {own: given}))


def _call(function: Callable[..., Any], operands: list[Make], more: dict[str, Make]) -> Make:
    return lambda: function(*[x() for x in operands], **{k: x() for k, x in more.items()})


def outcome(call: Call) -> BaseException | None:
    """Return the exception that a call raises."""
    try:
        call.made()
    except (Exception, Read) as error:
        return error.with_traceback(None)
    return None


@pytest.fixture
def unreadable(backend: Any, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Make reads of GPU memory raise, until undone."""

    async def refuse(*_: Any) -> None:
        raise Read

    monkeypatch.setattr(type(backend.device.recorder), "read", refuse)
    return monkeypatch


@pytest.mark.filterwarnings("ignore")
def test_no_error_reads_its_argument(bg: Any, unreadable: pytest.MonkeyPatch) -> None:
    refused, readers = [], []
    for call in calls(bg):
        error = outcome(call)
        if isinstance(error, Read):
            readers.append(call)
        elif isinstance(error, bg.errors.BackendError):
            refused.append((call, type(error), str(error)))  # the error keeps the array alive
    assert len(refused) > 5000
    unreadable.undo()
    # Calls that read may only complain about values, not about the argument's type.
    found = {call.name for call in readers if isinstance(outcome(call), bg.errors.InvalidArgument)}
    assert sorted(found) == sorted(LOOKS_AT_VALUES)
    others = []
    with bg.capture() as graph:
        for call, kind, text in refused:
            inside = outcome(call)
            if type(inside) is not kind or str(inside) != text:
                others.append((call.name, call.text, text, repr(inside)))
    graph.close()
    assert not others


@pytest.mark.filterwarnings("ignore")
def test_no_refusal_of_the_backends_reads_an_array(
    bg: Any, backend: Any, unreadable: pytest.MonkeyPatch
) -> None:
    refused = 0
    for owner in (bg.KernelExecutor(backend), bg.TensorBackend(backend), backend):
        array = bg.KernelExecutor(backend).full((2, 5), 1.0)
        for name, method in inspect.getmembers(type(owner), inspect.isfunction):
            if name.startswith("_") or name in ("close", "init", "with_retry"):
                continue
            needed = [
                p
                for p in list(inspect.signature(method).parameters.values())[1:]
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
            for value in (array, bg.ones((2, 5)), [array], Holder(array)):
                call = functools.partial(method, owner, *[value] * len(needed))
                error = outcome(Call(name, "", call))
                assert not isinstance(error, Read), name
                refused += isinstance(error, bg.errors.BackendError)
    assert refused > 100


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", VALUES)
def test_every_error_shows_an_array_without_reading_it(
    bg: Any, unreadable: pytest.MonkeyPatch, value: str
) -> None:
    from browsergpu.engine.core import errors

    given = VALUES[value](bg)
    for kind in (errors.InvalidArgument, errors.InvalidType, errors.InvalidIndex):
        error = kind("f", "x", given, "a number")
        assert str(error).startswith("f: x must be a number, got ")
        assert "Array(" not in str(error)
        again, arguments, *_ = error.__reduce__()  # how pickle restores it
        assert str(again(*arguments)) == str(error)
        assert not isinstance(arguments[2]["value"], bg.Array | list | dict)


def test_an_operator_in_place_names_the_dtypes(bg: Any, unreadable: pytest.MonkeyPatch) -> None:
    small, wide = bg.ones((3,), dtype="uint8"), bg.ones((3,), dtype="float32")
    words = "iadd|add: other must be an operand whose result is uint8, got an array of shape"
    with bg.capture() as graph, pytest.raises(TypeError, match=words):
        small += wide
    graph.close()
