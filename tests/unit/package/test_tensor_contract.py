"""The contract of tensor backends: its 52 methods and their fingerprint."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from browsergpu import TensorBackend
from browsergpu.api.tensor_backend import contract as tensor_contract
from browsergpu.api.tensor_backend.contract import (
    FINGERPRINT,
    TensorContract,
    fingerprint,
    methods,
    require_abi,
)
from browsergpu.api.tensor_backend.scalars import Scalars
from browsergpu.errors import InvalidArgument, Unsupported

pytestmark = pytest.mark.fast

PACKAGE = Path(tensor_contract.__file__).parents[3]

SCALARS = [
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "sqrt",
    "pow",
    "sin",
    "cos",
    "tan",
    "log",
    "exp",
    "floor",
    "ceil",
    "round",
    "abs",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]
OTHERS = [
    "name",
    "is_available",
    "alloc_tensor",
    "free_tensor",
    "tensor_meta",
    "write_tensor",
    "read_tensor",
    "pointwise_add",
    "matmul",
    "matmul_bias",
    "layer_norm",
    "softmax",
    "gelu",
    "relu",
    "attention",
    "cross_entropy",
    "reduce_sum",
    "embedding",
    "adam_update",
    "gaussian_blur",
    "sobel_edges",
    "grayscale",
    "threshold",
    "brightness",
    "contrast",
    "invert_colors",
    "sharpen",
    "sync",
    "abi_fingerprint",
    "dispatch_compute",
]


def test_there_are_52_methods_as_the_issue_names_them() -> None:
    assert set(methods()) == {f"scalar_{name}" for name in SCALARS} | set(OTHERS)
    assert len(methods()) == 52


def test_the_arguments_are_as_the_issue_names_them() -> None:
    def names(method: str) -> str:
        return " ".join(re.findall(r"(\w+)\?? positional", methods()[method]))

    assert names("attention") == "self q k v out mask scale"
    assert names("cross_entropy") == "self logits targets loss_out probs_out"
    assert names("adam_update") == "self param grad m v lr beta1 beta2 eps step"
    assert names("dispatch_compute") == "self shader bindings push_constants workgroup_count"
    assert names("reduce_sum") == "self input out dim"
    assert methods()["name"] == methods()["is_available"] == "property"


def test_every_method_is_documented() -> None:
    for name in methods():
        member = getattr(TensorContract, name)
        assert member.__doc__, name


def test_the_backend_has_them_with_the_same_arguments() -> None:
    for name, arguments in methods().items():
        owner = next(cls for cls in TensorBackend.__mro__ if name in vars(cls))
        assert methods(owner)[name] == arguments, name
    assert not getattr(TensorBackend, "__abstractmethods__", None)


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    assert re.fullmatch("[0-9a-f]{16}", FINGERPRINT)
    code = "from browsergpu.api.tensor_backend.contract import FINGERPRINT; print(FINGERPRINT)"
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
    """The contract's own class with members changed, added or (None) removed."""
    members = {**vars(TensorContract), **changed}
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
    assert fingerprint(Scalars, copy_of()) == FINGERPRINT
    assert fingerprint(copy_of(), Scalars) == FINGERPRINT
    assert fingerprint(Scalars, copy_of(relu=no_kind)) == FINGERPRINT
    assert fingerprint(Scalars, copy_of(_private=no_kind, CONSTANT=5)) == FINGERPRINT


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
def test_the_fingerprint_changes_with_the_contract(change: dict[str, Any]) -> None:
    assert fingerprint(Scalars, copy_of(**change)) != FINGERPRINT
    prints = [fingerprint(Scalars, copy_of(**other)) for other in CHANGES.values()]
    assert len(set(prints)) == len(prints)


class Backend:
    """Something that tells a fingerprint."""

    def __init__(self, told: Any) -> None:
        self.abi_fingerprint = lambda: told


def test_require_abi_takes_the_same_fingerprint_alone() -> None:
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
