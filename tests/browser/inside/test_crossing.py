"""Data of one interface used in another: executors of backends, tensors as arrays, drawn arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.fixture
def tensors(backend: Any) -> Any:
    from browsergpu import TensorBackend

    return TensorBackend(backend)


@pytest.fixture
def executor(tensors: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(tensors)


def a_tensor(tensors: Any, data: np.ndarray) -> int:
    handle: int = tensors.alloc_tensor(data.shape, "f32")
    tensors.write_tensor(handle, data)
    return handle


def test_an_executor_is_made_from_either_backend(backend: Any, tensors: Any) -> None:
    from browsergpu import KernelExecutor, WasmBackend
    from browsergpu.errors import InvalidArgument, NotInitialized

    assert KernelExecutor(backend).device is backend.device
    assert KernelExecutor(tensors).device is backend.device
    assert tensors.device is backend.device
    with pytest.raises(NotInitialized):
        KernelExecutor(WasmBackend())
    with pytest.raises(InvalidArgument, match="a backend that has one"):
        KernelExecutor("gpu")  # type: ignore[arg-type]


def test_a_tensor_and_its_array_are_the_same_memory(tensors: Any, executor: Any) -> None:
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    handle = a_tensor(tensors, data)
    array = tensors.array(handle)
    assert (array.shape, array.dtype) == ((2, 3), "f32")
    executor.add(array, 1.0, out=array)
    assert tensors.read_numpy(handle).tolist() == (data + 1).tolist()
    tensors.relu(handle, handle)
    tensors.write_tensor(handle, data)
    assert executor.sum(array).numpy() == 15
    assert executor.matmul(array, executor.from_numpy(data), transpose_b=True).shape == (2, 2)
    tensors.free_tensor(handle)


def test_memory_is_freed_with_the_last_array(backend: Any, tensors: Any) -> None:
    from browsergpu.errors import InvalidArgument

    before = backend.device.memory.buffers
    handle = a_tensor(tensors, np.ones(5, np.float32))
    array, again = tensors.array(handle), tensors.array(handle)
    tensors.free_tensor(handle)
    with pytest.raises(InvalidArgument, match="not freed"):
        tensors.read_numpy(handle)
    assert array.numpy().tolist() == again.numpy().tolist() == [1] * 5
    del again
    assert backend.device.memory.buffers == before + 1
    del array
    assert backend.device.memory.buffers == before


def test_a_tensor_outlives_its_arrays(tensors: Any) -> None:
    handle = a_tensor(tensors, np.ones(5, np.float32))
    array = tensors.array(handle)
    del array
    assert tensors.read_numpy(handle).tolist() == [1] * 5
    tensors.free_tensor(handle)


def test_freeing_the_array_frees_the_tensor(backend: Any, tensors: Any) -> None:
    from browsergpu.errors import InvalidArgument

    before = backend.device.memory.buffers
    handle = a_tensor(tensors, np.ones(5, np.float32))
    tensors.array(handle).free()
    assert backend.device.memory.buffers == before
    with pytest.raises(InvalidArgument, match="not freed"):
        tensors.free_tensor(handle)


def test_a_dropped_backend_leaves_arrays_their_memory(backend: Any) -> None:
    from browsergpu import TensorBackend

    before = backend.device.memory.buffers
    dropped = TensorBackend(backend)
    array = dropped.array(a_tensor(dropped, np.ones(5, np.float32)))
    a_tensor(dropped, np.ones(7, np.float32))
    del dropped
    assert backend.device.memory.buffers == before + 1
    assert array.numpy().tolist() == [1] * 5
    del array
    assert backend.device.memory.buffers == before


def test_draw_refuses_invalid_arrays(backend: Any, executor: Any) -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    picture = executor.zeros((4, 4, 3))
    refused: list[tuple[tuple[Any, ...], str]] = [
        ((executor.zeros((4,)),), r"\[H, W\] or \[H, W, C\]"),
        ((executor.zeros((4, 4), "f16"),), "array of f32"),
        ((picture, 4, 4, 3), "None for an array"),
        ((executor.zeros((4, 4, 2)),), "1 .gray., 3 .RGB. or 4 .RGBA."),
        ((7, None, 4, 3), "height"),
    ]
    for arguments, words in refused:
        with pytest.raises(InvalidArgument, match=words):
            backend.draw(*arguments, canvas_id="nowhere")
    with WasmBackend() as other:
        other.init()
        with pytest.raises(InvalidArgument, match="this backend's device"):
            other.draw(picture, canvas_id="nowhere")
    picture.free()
    with pytest.raises(InvalidArgument, match="not freed"):
        backend.draw(picture, canvas_id="nowhere")
