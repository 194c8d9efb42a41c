"""Custom elementwise operations: declarations and generated code."""

from __future__ import annotations

import pytest

from browsergpu.engine.core.element_types import COMPLEX64, FLOAT16, FLOAT32, INT32, TYPES
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.kernels.fused.operations import overload_of
from browsergpu.engine.kernels.fused.source import Source, leaf, operation, source
from browsergpu.functions.custom.declarations import arguments, of_letters, parameters
from browsergpu.functions.custom.elementwise_kernel import ElementwiseKernel

pytestmark = pytest.mark.fast

BODY = "let d = T(n) * x;\nz = d\n  + x;"


def made(kernel: ElementwiseKernel, *kinds: object) -> Source:
    """Return the kernel of an operation on packed arrays of the given types."""
    (own,) = kernel._operations
    found = overload_of(own, kinds)  # type: ignore[arg-type]
    assert found is not None
    leaves = tuple(map(leaf, found.given))
    trace = (*leaves, operation(found.number, *range(len(leaves))))
    return source(trace, (len(leaves),), "W" * len(leaves), 1, True)


def test_parameters() -> None:
    declared = parameters("op", "in_params", "float32 x,T y , complex64 z")
    assert [(one.name, one.kind) for one in declared] == [
        ("x", FLOAT32), ("y", "T"), ("z", COMPLEX64),
    ]  # fmt: skip
    assert of_letters(declared, {"T": INT32}) == (FLOAT32, INT32, COMPLEX64)
    assert parameters("op", "in_params", "") == (), "as of CuPy's kernels with a size"
    for text in ("x", "float32", "float32 x y", "float32 1x", "float32 x,", "datetime64 x"):
        with pytest.raises(InvalidArgument):
            parameters("op", "in_params", text)
    with pytest.raises(InvalidType):
        parameters("op", "in_params", 3)


def test_arguments_without_arrays() -> None:
    declared = parameters("op", "in_params", "T x")
    for given in ([1.5], [], ["text"], [None]):
        with pytest.raises(InvalidType):
            arguments("op", declared, given)


def test_errors_name_the_line_of_the_text() -> None:
    found = made(ElementwiseKernel("T x, int32 n", "T z", BODY, "mine"), FLOAT32, INT32)
    lines = found.code.split("\n")
    (_, first), (name, begin, recorded), (_, end) = found.sections
    assert (name, first) == ("mine", 1)
    assert recorded.startswith(f"{__file__}, line ")
    assert lines[begin - 1 : end - 1] == BODY.replace("T(", "f32(").split("\n")
    assert found.label == "fused: mine"


def test_the_same_text_is_one_kernel() -> None:
    one, other = (ElementwiseKernel("T x, int32 n", "T z", BODY, "mine") for _ in range(2))
    assert made(one, FLOAT32, INT32) is made(other, FLOAT32, INT32)
    assert made(one, FLOAT32, INT32) is not made(one, FLOAT16, INT32)


def test_floats_that_check_nan_looks_at() -> None:
    for kind in (kind for kind in TYPES if kind.computed not in "IU"):
        floats = made(ElementwiseKernel("T x", "T y", "y = x", "same"), kind).floats
        assert [(place, name) for place, name, _ in floats] == [(1, "y1")] * (kind.kind in "fc")
