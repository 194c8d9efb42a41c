"""Invalid arguments raise InvalidArgument with the operation and the argument.

Nothing reaches the GPU or stays in its memory. Valid calls compute on the GPU and read nothing
back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.tensors.lab import DTYPES, Bench, on_bench, sent


class T:
    """A tensor for a valid call: its shape, dtype and the other dtypes that are allowed."""

    def __init__(self, shape: tuple[int, ...], dtypes: str = "f32 f16") -> None:
        self.shape = shape
        self.dtypes = dtypes.split()


PICTURE = "f32 f16 u8"
GOOD: dict[str, dict[str, Any]] = {
    "pointwise_add": {"a": T((3, 4)), "b": T((3, 4)), "out": T((3, 4))},
    "relu": {"input": T((3, 4)), "out": T((3, 4))},
    "gelu": {"input": T((3, 4)), "out": T((3, 4))},
    "matmul": {"a": T((2, 3, 4)), "b": T((2, 4, 5)), "out": T((2, 3, 5))},
    "matmul_bias": {"a": T((3, 4)), "b": T((4, 5)), "bias": T((5,)), "out": T((3, 5))},
    "layer_norm": {
        "input": T((3, 4)), "gamma": T((4,)), "beta": T((4,)), "out": T((3, 4)), "eps": 1e-5,
    },
    "softmax": {"input": T((3, 4)), "out": T((3, 4)), "dim": 1},
    "attention": {
        "q": T((2, 3, 4)), "k": T((2, 5, 4)), "v": T((2, 5, 4)), "out": T((2, 3, 4)),
        "mask": T((3, 5), "f32 f16 bool"), "scale": 0.5,
    },
    "cross_entropy": {
        "logits": T((3, 4)), "targets": T((3,), "i32"), "loss_out": T((3,)),
        "probs_out": T((3, 4)),
    },
    "reduce_sum": {"input": T((3, 4)), "out": T((3,)), "dim": 1},
    "embedding": {"indices": T((3,), "i32"), "weight": T((5, 4)), "out": T((3, 4))},
    "adam_update": {
        "param": T((3, 4)), "grad": T((3, 4)), "m": T((3, 4)), "v": T((3, 4)), "lr": 0.1,
        "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "step": 1,
    },
    "gaussian_blur": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE), "sigma": 1.0},
    "sobel_edges": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE), "threshold": 0.5},
    "grayscale": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE)},
    "threshold": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE), "value": 0.5},
    "brightness": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE), "factor": 0.5},
    "contrast": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE), "factor": 0.5},
    "invert_colors": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE)},
    "sharpen": {"input": T((5, 4, 3), PICTURE), "out": T((5, 4, 3), PICTURE)},
}  # fmt: skip

HANDLES = [(op, name) for op, args in GOOD.items() for name, arg in args.items() if type(arg) is T]
REALS = [
    (op, name) for op, args in GOOD.items() for name, arg in args.items() if type(arg) is float
]
WHOLE = [(op, name) for op, args in GOOD.items() for name, arg in args.items() if type(arg) is int]


def prepared(bench: Bench, op: str) -> dict[str, Any]:
    """Return the arguments of a valid call, with tensors of ones (targets and indices: 1)."""
    return {
        name: bench.up(np.ones(arg.shape, DTYPES[arg.dtypes[0]])) if type(arg) is T else arg
        for name, arg in GOOD[op].items()
    }


def refused(backend: Any, tensors: Any, op: str, name: str, change: Callable[[Bench], Any],
            argument: str = "") -> None:  # fmt: skip
    """Check that a valid call with one changed argument is refused in the name of `argument`."""
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        arguments = prepared(bench, op)
        arguments[name] = change(bench)
        memory = backend.device.memory
        before = (sent(backend), memory.buffers, memory.in_use)
        with pytest.raises(InvalidArgument) as caught:
            getattr(tensors, op)(*arguments.values())
        assert (sent(backend), memory.buffers, memory.in_use) == before
    assert caught.value.op == op
    assert caught.value.argument in (argument or name).split(" or ")
    assert str(caught.value).startswith(f"{op}: {caught.value.argument} must ")


@pytest.mark.parametrize("op", GOOD)
def test_good_calls_dispatch_and_read_nothing_back(backend: Any, tensors: Any, op: str) -> None:
    import js

    with on_bench(tensors) as bench:
        arguments = prepared(bench, op)
        tensors.sync()
        seen, told = js.gpuWatch.dispatches, sent(backend)
        mappings = js.gpuWatch.mappings
        assert getattr(tensors, op)(*arguments.values()) is None
        tensors.sync()
        assert js.gpuWatch.dispatches > seen, "nothing was dispatched"
        assert js.gpuWatch.mappings == mappings, "something was read back"
        now = sent(backend)
        assert (now["uploads"], now["readbacks"]) == (told["uploads"], told["readbacks"])


FUSED = ["matmul_bias", "layer_norm", "softmax", "attention", "cross_entropy", "adam_update",
         "reduce_sum", "embedding", "sharpen"]  # fmt: skip


@pytest.mark.parametrize("op", FUSED)
def test_one_thought_is_one_dispatch(backend: Any, tensors: Any, op: str) -> None:
    with on_bench(tensors) as bench:
        arguments = prepared(bench, op)
        before = sent(backend)
        getattr(tensors, op)(*arguments.values())
        after = sent(backend)
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["copies"] == before["copies"]


@pytest.mark.parametrize("op", GOOD)
def test_arguments_go_by_name_too(tensors: Any, op: str) -> None:
    with on_bench(tensors) as bench:
        getattr(tensors, op)(**prepared(bench, op))


@pytest.mark.parametrize("handle", [0, 10**9, 1.0, True, "1", (), None], ids=repr)
@pytest.mark.parametrize(("op", "name"), HANDLES)
def test_handles(backend: Any, tensors: Any, op: str, name: str, handle: Any) -> None:
    if handle is None and name == "mask":
        return  # no mask
    refused(backend, tensors, op, name, lambda bench: handle)


@pytest.mark.parametrize(("op", "name"), HANDLES)
def test_dtypes(backend: Any, tensors: Any, op: str, name: str) -> None:
    tensor = GOOD[op][name]
    for dtype in DTYPES:
        if dtype in tensor.dtypes:
            with on_bench(tensors) as bench:
                arguments = prepared(bench, op)
                arguments[name] = bench.up(np.ones(tensor.shape, DTYPES[dtype]))
                getattr(tensors, op)(*arguments.values())
        else:
            # Some operations take integers, but not together with floats.
            blamed = {"pointwise_add": "dtypes", "reduce_sum": "out", "embedding": "out"}.get(op)
            refused(backend, tensors, op, name, lambda bench, dtype=dtype: bench.new(
                tensor.shape, dtype), f"{name} or {blamed}")  # fmt: skip


@pytest.mark.parametrize(("op", "name"), HANDLES)
def test_shapes(backend: Any, tensors: Any, op: str, name: str) -> None:
    shape = GOOD[op][name].shape
    wrong = {(7, *shape[1:]), (*shape[:-1], 7), (*shape, 7), (7, *shape), (*shape, 1, 1), shape[1:]}
    for other in sorted(wrong, key=str):
        if fits(op, name, other):
            continue
        others = " or ".join(GOOD[op])
        refused(backend, tensors, op, name, lambda bench, other=other: bench.new(
            other, GOOD[op][name].dtypes[0]), others)  # fmt: skip


def fits(op: str, name: str, shape: tuple[int, ...]) -> bool:
    """Return whether a shape is valid although it differs from GOOD's."""
    return (op, name, shape) in {
        ("matmul", "a", (3, 4)),
        ("matmul", "b", (4, 5)),
        ("embedding", "weight", (7, 4)),
        ("attention", "mask", (5,)),
        ("cross_entropy", "loss_out", ()),
        ("reduce_sum", "input", (3, 7)),
    }


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, 1e39, "1", b"1", None, True, 1j, [1.0], 10**400], ids=repr
)
@pytest.mark.parametrize(("op", "name"), REALS)
def test_reals(backend: Any, tensors: Any, op: str, name: str, value: Any) -> None:
    if value is None and name == "scale":
        return  # the default, 1 / sqrt(D)
    refused(backend, tensors, op, name, lambda bench: value)


@pytest.mark.parametrize(
    ("op", "name", "value"),
    [
        ("layer_norm", "eps", -1e-9),
        ("attention", "scale", 0.0),
        ("attention", "scale", -1.0),
        ("adam_update", "beta1", -0.1),
        ("adam_update", "beta1", 1.0),
        ("adam_update", "beta2", -0.1),
        ("adam_update", "beta2", 1.0),
        ("adam_update", "eps", -1e-9),
        ("adam_update", "step", 0),
        ("adam_update", "step", -1),
        ("gaussian_blur", "sigma", 0.0),
        ("gaussian_blur", "sigma", -1.0),
        ("gaussian_blur", "sigma", 1000.5),
        ("softmax", "dim", 2),
        ("softmax", "dim", -3),
        ("reduce_sum", "dim", 2),
        ("reduce_sum", "dim", -3),
    ],
)
def test_values(backend: Any, tensors: Any, op: str, name: str, value: Any) -> None:
    refused(backend, tensors, op, name, lambda bench: value)


@pytest.mark.parametrize("value", [1.0, "1", True, 2**40, -(2**40), (1,), np.nan], ids=repr)
@pytest.mark.parametrize(("op", "name"), WHOLE)
def test_whole_numbers(backend: Any, tensors: Any, op: str, name: str, value: Any) -> None:
    refused(backend, tensors, op, name, lambda bench: value)


def test_softmax_needs_a_dim(backend: Any, tensors: Any) -> None:
    refused(backend, tensors, "softmax", "dim", lambda bench: None)


@pytest.mark.parametrize("op", ["softmax", "reduce_sum"])
def test_a_scalar_has_no_axes(backend: Any, tensors: Any, op: str) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        scalar = bench.new(())
        before = sent(backend)
        with pytest.raises(InvalidArgument, match=f"{op}: dim must be an axis of .*got 0"):
            getattr(tensors, op)(scalar, scalar, 0)
        assert sent(backend) == before


@pytest.mark.parametrize("shape", [(), (5,), (1, 2, 3, 4), (4, 4, 0), (4, 4, 5)])
@pytest.mark.parametrize("op", [op for op in GOOD if "u8" in next(iter(GOOD[op].values())).dtypes])
def test_arrays_that_are_not_images(
    backend: Any, tensors: Any, op: str, shape: tuple[int, ...]
) -> None:
    refused(backend, tensors, op, "input", lambda bench: bench.new(shape))


@pytest.mark.parametrize("pair", [("param", "grad"), ("param", "m"), ("m", "v"), ("grad", "v")])
def test_adam_needs_four_tensors(backend: Any, tensors: Any, pair: tuple[str, str]) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        arguments = prepared(bench, "adam_update")
        arguments[pair[0]] = arguments[pair[1]]
        before = sent(backend)
        with pytest.raises(InvalidArgument, match="four different tensors"):
            tensors.adam_update(*arguments.values())
        assert sent(backend) == before


@pytest.mark.parametrize("dtypes", ["i32 u32 i32", "i32 i32 u32", "i32 f32 f32", "f32 f32 i32"])
def test_sums_of_different_kinds(backend: Any, tensors: Any, dtypes: str) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        handles = [bench.new((3,), dtype) for dtype in dtypes.split()]
        before = sent(backend)
        with pytest.raises(
            InvalidArgument, match=r"pointwise_add: dtypes must be .*, got (f32, i32|i32, u32)"
        ):
            tensors.pointwise_add(*handles)
        assert sent(backend) == before


def test_refused_calls_leave_the_tensors_as_they_are(tensors: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with on_bench(tensors) as bench:
        handle, other = bench.up(x), bench.new((4, 3))
        for call in (
            lambda: tensors.pointwise_add(handle, other, handle),
            lambda: tensors.softmax(handle, handle, 5),
            lambda: tensors.relu(handle, other),
        ):
            with pytest.raises(InvalidArgument):
                call()
        assert_same_bits(bench.get(handle), x, "the tensor")


#: Operations that read float16 without a cast.
WITHOUT_TEMPORARIES = (
    "pointwise_add",
    "relu",
    "gelu",
    "layer_norm",
    "matmul",
    "matmul_bias",
    "embedding",
)


@pytest.mark.parametrize("op", GOOD)
def test_a_failure_midway_leaves_no_buffers(
    backend: Any, tensors: Any, op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device runs out of memory at the first, second … buffer that an operation allocates."""
    from browsergpu.errors import OutOfMemory

    memory = backend.device.memory
    take = type(memory).get_buffer
    with on_bench(tensors) as bench:
        arguments = prepared(bench, op)
        # Most operations cast float16 to temporary buffers.
        for name, arg in GOOD[op].items():
            if type(arg) is T and "f16" in arg.dtypes:
                arguments[name] = bench.up(np.ones(arg.shape, np.float16))
        before = (memory.buffers, memory.in_use)
        failures = 0
        for allowed in range(20):
            left = iter(range(allowed))

            def short(self: Any, *args: Any, left: Any = left, **kwargs: Any) -> Any:
                if next(left, None) is None:
                    raise OutOfMemory("take", "none left")
                return take(self, *args, **kwargs)

            monkeypatch.setattr(type(memory), "get_buffer", short)
            try:
                getattr(tensors, op)(*arguments.values())
            except OutOfMemory:
                failures += 1
            finally:
                monkeypatch.undo()
            assert (memory.buffers, memory.in_use) == before
        assert failures > 0 or op in WITHOUT_TEMPORARIES
        tensors.sync()


@given(data=st.data())
def test_any_mixture_of_shapes_works_or_is_refused(
    backend: Any, tensors: Any, data: st.DataObject
) -> None:
    """Any shapes and dtypes give a result or InvalidArgument, and no GPU error."""
    from browsergpu.errors import InvalidArgument

    op = data.draw(st.sampled_from(list(GOOD)))
    sizes = st.sampled_from([0, 1, 2, 3, 5])
    with on_bench(tensors) as bench:
        common = tuple(data.draw(st.lists(sizes, max_size=3), "a shape for all"))
        arguments = {}
        for name, arg in GOOD[op].items():
            if type(arg) is not T:
                arguments[name] = arg
                continue
            good = data.draw(st.sampled_from([arg.shape, arg.shape, common]))
            arguments[name] = bench.new(good, data.draw(st.sampled_from([arg.dtypes[0], *DTYPES])))
        before = sent(backend)
        try:
            getattr(tensors, op)(*arguments.values())
        except InvalidArgument as error:
            assert error.op == op  # noqa: PT017
            assert sent(backend) == before
        tensors.sync()
