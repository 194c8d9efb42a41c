"""The keys and access modes of generated kernels, without a GPU."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from fake_gpu import FakeGpu, fake_device

import browsergpu as bg
from browsergpu.arrays.apply import full_node
from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import MOST_ENTRIES, MOST_TRACES, Tracer
from browsergpu.engine.core.element_types import DEMOTED, FLOAT32, TYPES, beside_number, promoted
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.kernels.fused.layout import layout, workgroups
from browsergpu.engine.kernels.fused.operations import OPERATIONS, overload
from browsergpu.engine.kernels.fused.source import needed, source

pytestmark = pytest.mark.fast


@pytest.fixture
def tracer() -> Tracer:
    return Tracer(fake_device())


def array(tracer: Tracer, *shape: int, dtype: str = "float32") -> Array:
    """An array in memory."""
    made = Array(full_node(tracer, shape, FLOAT32, 1.0), tracer)
    if dtype != "float32":
        made = made.astype(dtype)
    made.node.in_memory()
    return made


def told(tracer: Tracer) -> FakeGpu:
    gpu = tracer.device.recorder
    assert isinstance(gpu, FakeGpu)
    return gpu


def test_promotion_is_numpys_demoted() -> None:
    for a, b in product(TYPES, repeat=2):
        wide = np.result_type(a.numpy, b.numpy)
        assert promoted(a, b).numpy == (DEMOTED[wide].numpy if wide in DEMOTED else wide)
    for kind in TYPES:
        for number in (True, 1, 1.5, 1j):
            expected = np.result_type(kind.numpy, number)
            assert beside_number(kind, type(number)).numpy.kind == expected.kind


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_allowed_overload_has_an_expression(name: str) -> None:
    operation = OPERATIONS[name]
    texts = "".join(operation.expressions.values())
    arity = 1 + max(n for n in range(3) if f"{{{n}}}" in texts)
    for kinds in product(TYPES, repeat=arity):
        found = overload(name, kinds)
        if found is not None:
            assert found.expression
            assert len(found.cast_to) == arity


def test_equal_computations_share_a_kernel(tracer: Tracer) -> None:
    for n in (5, 800):
        a, b = array(tracer, n, 4), array(tracer, 4)
        for number in (0.5, -3.0):
            c = a * number + b
            c.node.in_memory()
    dispatched = told(tracer).dispatched
    pipelines = {pipeline.id for pipeline, _ in dispatched if pipeline.nbytes > 40}
    assert len(pipelines) == 1


@pytest.mark.parametrize(
    ("shape", "places", "modes"),
    [
        ((6, 8), [((6, 8), None, 0)], "W"),
        ((6, 8), [((6, 8), None, 12)], "M"),
        ((6, 8), [((6, 8), None, 13)], "E"),
        ((6, 8), [((), None, 3)], "S"),
        ((6, 8), [((8,), None, 0), ((6, 1), (1, 0), 0)], "RF"),
        ((6, 7), [((7,), None, 0), ((6, 1), (1, 0), 0)], "EE"),
        ((6, 8), [((6, 8), (1, 6), 0)], "E"),
        ((64, 32), [((64, 32), (1, 64), 3), ((64, 32), None, 0)], "TW"),
        ((2, 64, 36), [((2, 64, 36), (2304, -1, 64), 63)], "T"),
        ((64, 28), [((64, 28), (1, 64), 0)], "E"),
        ((6, 8), [((6, 8), (16, 1), 4)], "R"),
        ((6, 8), [((6, 8), (-8, -1), 47)], "E"),
        ((1, 1), [((1, 1), (5, 5), 2)], "S"),
    ],
)
def test_access_modes(shape: tuple[int, ...], places: list[tuple], modes: str) -> None:
    assert layout(shape, tuple(places))[2] == modes


@pytest.mark.parametrize("shape", [(64, 32), (33, 36), (5, 40, 100)])
def test_tiles_cover_transposed_arrays(shape: tuple[int, ...]) -> None:
    *rest, rows, columns = shape
    turned = (*([rows * columns] if rest else ()), 1, rows)
    rank, _, modes, words = layout(shape, ((shape, turned, 0),))
    tiles = math.ceil(rows / 32) * math.ceil(columns / 32)
    assert workgroups(math.prod(shape), rank, modes, words) == math.prod(rest) * tiles


def test_axes_that_lie_in_a_row_are_one() -> None:
    rank, _, modes, words = layout((2, 3, 4, 8), (((2, 3, 4, 8), (192, 64, 16, 1), 0),))
    assert (rank, modes) == (2, "R")
    assert words == (8, 0, 16, 1)


def test_dead_entries_are_left_out(tracer: Tracer) -> None:
    a = array(tracer, 10)
    dead = a * 2
    kept = a + 1
    trace = kept.node.trace
    del dead
    assert len(needed(trace.code, [kept.node.place])) == 3
    kept.node.in_memory()
    assert len(told(tracer).dispatched[-1][1]) == 3 + 2 + 1 + 1  # grid, buffers, n and 1.0


def test_traces_are_bounded(tracer: Tracer) -> None:
    a = array(tracer, 10)
    for _ in range(1000):
        a = a + 1
        assert len(a.node.trace.code) <= MOST_ENTRIES
    kept = [array(tracer, n) + 1 for n in range(1, 50)]
    assert len(tracer.traces) <= MOST_TRACES
    assert sum(x.node.trace is None for x in kept) >= len(kept) - MOST_TRACES


def test_unreferenced_values_are_left_out(tracer: Tracer) -> None:
    a, b = array(tracer, 10), array(tracer, 10)
    before = len(told(tracer).dispatched)
    dropped = b * 0.5
    kept = a * 2.0 + b
    del dropped
    for _ in range(1000):
        (a + 1) * kept
    assert len(told(tracer).dispatched) == before
    trace = kept.node.trace
    assert len(trace.code) <= MOST_ENTRIES
    assert len(needed(trace.code, [kept.node.place])) == 5
    assert set(trace.leaves.values()) <= {a.node, b.node}
    kept.node.in_memory()
    assert len(told(tracer).dispatched) == before + 1


def test_no_kernel_binds_more_than_there_may_be(tracer: Tracer) -> None:
    total = array(tracer, 4)
    kept = []
    for _ in range(40):
        total = total + array(tracer, 4)
        kept.append(total)
    total.node.in_memory()
    for pipeline, fields in told(tracer).dispatched:
        words = pipeline.nbytes // 4
        assert words - 1 == len(fields)
    limit = tracer.device.limits["maxStorageBuffersPerShaderStage"]
    assert tracer.kernels.most_leaves == limit - 1


def test_types_that_an_operation_does_not_accept(tracer: Tracer) -> None:
    a = array(tracer, 3)
    with pytest.raises(InvalidType, match="bitwise_and"):
        a & a
    with pytest.raises(TypeError):
        a + object()
    assert bg.add(a, 1).shape == (3,)


def test_the_same_source_for_the_same_key(tracer: Tracer) -> None:
    a = array(tracer, 3)
    b = a + 1
    code = tuple(b.node.trace.code)
    made = source(code, (b.node.place,), "W", 1, False)
    assert source(code, (b.node.place,), "W", 1, False) is made
    assert made.signature == "0r1w"
    assert made.parameters == 2
    assert isinstance(b.node, Node)
