"""docs/parity.md is complete and right: every name in it exists, and it has every name."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import browsergpu
from browsergpu.compat.tensor_backend import abi

pytestmark = pytest.mark.fast

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PARITY = (REPOSITORY / "docs" / "parity.md").read_text(encoding="utf-8")
TESTS = [REPOSITORY / "tests" / part for part in ("browser", "unit", "")]

ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in PARITY.splitlines()
    if line.startswith("| ") and not line.startswith(("| there", "| ---"))
]
IDS = [row[0][:60] for row in ROWS]
NOT_AVAILABLE = "not available:"


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def resolve(name: str) -> Any:
    """Resolve `WasmBackend.gemm`, `errors.DeviceLost` or `shaders/gemm.wgsl`."""
    if "/" in name or name.endswith(".py"):
        path = REPOSITORY / name
        assert path.exists(), f"{name} is no file"
        return path
    found: Any = browsergpu
    for part in name.removesuffix("()").split("."):
        annotated = getattr(found, "__annotations__", {})
        assert hasattr(found, part) or part in annotated, f"{name} is not there"
        found = getattr(found, part, None)
    return found


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_row_is_complete_and_right(row: tuple[str, ...]) -> None:
    assert len(row) == 3, row
    there, here, test = row
    assert there
    assert here
    if here.startswith(NOT_AVAILABLE):
        assert len(here) > 40, "why it is not available"
        return
    assert names_in(here), "what it is called here"
    for name in names_in(here):
        resolve(name)
    assert names_in(test), "the test that shows it"
    for name in names_in(test):
        path, _, function = name.partition("::")
        files = [folder / path for folder in TESTS if (folder / path).is_file()]
        assert files, f"{path} is no test file"
        if function:
            text = files[0].read_text(encoding="utf-8")
            assert re.search(rf"^\s*(?:async )?def {function}\b", text, re.MULTILINE), name


def public(cls: type) -> set[str]:
    return {
        f"{cls.__name__}.{name}"
        for name, member in vars(cls).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }


def expected_names() -> set[str]:
    names = public(browsergpu.WasmBackend)
    names |= {f"TensorBackend.{name}" for name in abi.methods(browsergpu.TensorBackend)}
    names |= {f"BackendConfig.{f.name}" for f in fields(browsergpu.BackendConfig)}
    for enum in (browsergpu.Transpose, browsergpu.UnaryOp, browsergpu.BinaryOp,
                 browsergpu.ReduceOp, browsergpu.DType, browsergpu.Policy):  # fmt: skip
        names |= {f"{enum.__name__}.{member.name}" for member in enum}
    names |= {
        f"errors.{name}"
        for name, error in vars(browsergpu.errors).items()
        if isinstance(error, type) and issubclass(error, browsergpu.BackendError)
    }
    return {name for name in names if not name.endswith("_async")}


def test_everything_that_is_there_is_named() -> None:
    named = {name.removesuffix("()") for row in ROWS for name in names_in(row[1])}
    assert expected_names() - named == set()


def test_the_table_is_long_enough_to_be_one() -> None:
    assert len(ROWS) > 150
    assert len({row[:2] for row in ROWS}) == len(ROWS), "a row twice"
