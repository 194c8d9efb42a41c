"""The 52 methods of the tensor backend and their fingerprint."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import browsergpu
from browsergpu import TensorBackend
from browsergpu.compat.tensor_backend.abi import fingerprint, methods
from browsergpu.compat.tensor_backend.backend import FINGERPRINT, require_abi
from browsergpu.errors import InvalidArgument, Unsupported

pytestmark = pytest.mark.fast

PACKAGE = Path(browsergpu.__file__).parents[1]

#: The arguments of every method but the scalar ones; None for a property.
ARGUMENTS = {
    "name": None,
    "is_available": None,
    "alloc_tensor": "shape dtype",
    "free_tensor": "handle",
    "tensor_meta": "handle",
    "write_tensor": "handle data",
    "read_tensor": "handle",
    "pointwise_add": "a b out",
    "matmul": "a b out",
    "matmul_bias": "a b bias out",
    "layer_norm": "input gamma beta out eps",
    "softmax": "input out dim",
    "gelu": "input out approximate?",
    "relu": "input out",
    "attention": "q k v out mask scale",
    "cross_entropy": "logits targets loss_out probs_out",
    "reduce_sum": "input out dim",
    "embedding": "indices weight out",
    "adam_update": "param grad m v lr beta1 beta2 eps step",
    "gaussian_blur": "input out sigma",
    "sobel_edges": "input out threshold",
    "grayscale": "input out",
    "threshold": "input out value",
    "brightness": "input out factor",
    "contrast": "input out factor",
    "invert_colors": "input out",
    "sharpen": "input out",
    "sync": "",
    "abi_fingerprint": "",
    "dispatch_compute": "shader bindings push_constants workgroup_count",
}
#: The scalar methods, by their arguments.
SCALARS = {
    "a b": "add sub mul div mod pow eq ne lt le gt ge",
    "x": "sqrt sin cos tan log exp floor ceil round abs",
}
for given, functions in SCALARS.items():
    ARGUMENTS |= {f"scalar_{function}": given for function in functions.split()}


def test_there_are_52_methods_as_the_issue_names_them() -> None:
    assert set(methods(TensorBackend)) == set(ARGUMENTS)
    assert len(ARGUMENTS) == 52


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_arguments_are_as_the_issue_names_them(name: str) -> None:
    found, names = methods(TensorBackend)[name], ARGUMENTS[name]
    if names is None:
        assert found == "property"
    else:
        given = [f"{each} positional_or_keyword" for each in ["self", *names.split()]]
        assert found == f"({', '.join(given)})"


def test_the_backends_own_additions_are_not_among_them() -> None:
    public = {name for name in dir(TensorBackend) if not name.startswith("_")}
    assert public - set(ARGUMENTS) == {
        "array", "device", "dispatch_compute_async", "read_numpy", "read_numpy_async",
        "read_tensor_async", "sync_async",
    }  # fmt: skip


def test_every_method_is_documented() -> None:
    for name in methods(TensorBackend):
        assert getattr(TensorBackend, name).__doc__, name


def test_the_fingerprint_stays_the_same() -> None:
    assert FINGERPRINT == "b0be4b3c09243748"
    assert TensorBackend.abi_fingerprint(object.__new__(TensorBackend)) == FINGERPRINT


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    assert re.fullmatch("[0-9a-f]{16}", FINGERPRINT)
    code = "from browsergpu.compat.tensor_backend.backend import FINGERPRINT; print(FINGERPRINT)"
    for seed in ("0", "1", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGE)}
        told = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == FINGERPRINT


def copy_of(**changed: Any) -> type:
    """Return the backend's members in one class, with some changed, added or (None) removed."""
    members = {name: inspect.getattr_static(TensorBackend, name) for name in dir(TensorBackend)}
    members = {name: member for name, member in members.items() if not name.startswith("__")}
    members |= changed
    return type(
        "Copy", (), {name: member for name, member in members.items() if member is not None}
    )


def no_kind(self: Any, input: Any, out: Any) -> None: ...
def renamed(self: Any, input: Any, output: Any) -> None: ...
def swapped(self: Any, out: Any, input: Any) -> None: ...
def optional(self: Any, input: Any, out: Any = None) -> None: ...
def keyword(self: Any, input: Any, *, out: Any) -> None: ...
def longer(self: Any, input: Any, out: Any, more: Any) -> None: ...


def test_a_copy_has_the_same_fingerprint() -> None:
    assert fingerprint(copy_of()) == FINGERPRINT
    assert fingerprint(copy_of(relu=no_kind)) == FINGERPRINT
    assert fingerprint(copy_of(_private=no_kind, CONSTANT=5)) == FINGERPRINT
    assert fingerprint(copy_of(relu_async=no_kind, array=longer)) == FINGERPRINT


CHANGES: dict[str, dict[str, Any]] = {
    "a method more": {"sigmoid": no_kind},
    "a method less": {"relu": None},
    "an argument renamed": {"relu": renamed},
    "arguments swapped": {"relu": swapped},
    "an argument that may be left out": {"relu": optional},
    "an argument by name alone": {"relu": keyword},
    "an argument more": {"relu": longer},
    "a property for a method": {"sync": property(no_kind)},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_fingerprint_changes_with_the_methods(change: dict[str, Any]) -> None:
    assert fingerprint(copy_of(**change)) != FINGERPRINT
    prints = [fingerprint(copy_of(**other)) for other in CHANGES.values()]
    assert len(set(prints)) == len(prints)


class Backend:
    """A backend with a given fingerprint."""

    def __init__(self, told: Any) -> None:
        self.abi_fingerprint = lambda: told


def test_require_abi_accepts_only_the_same_fingerprint() -> None:
    require_abi(Backend(FINGERPRINT))
    for other in ("0" * 16, "", None, FINGERPRINT.upper(), FINGERPRINT[:-1]):
        with pytest.raises(Unsupported, match=re.escape(repr(other))) as caught:
            require_abi(Backend(other))
        assert FINGERPRINT in str(caught.value)
        assert "Install matching versions" in str(caught.value)


@pytest.mark.parametrize("backend", [None, 5, object(), "webgpu"])
def test_require_abi_of_something_else(backend: Any) -> None:
    with pytest.raises(InvalidArgument, match="a tensor backend"):
        require_abi(backend)
