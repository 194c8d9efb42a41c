"""The arrays that keep GPU memory in use: names, shapes, bytes and lines, for the page's panel."""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import gpu_work, variables

MOST = 200
#: Elements of a list, tuple or dict that are looked at.
MOST_ELEMENTS = 50
DEPTH = 3
Assignments = dict[str, int]

# The lines that assign names, by the number of the cell.
_assignments: dict[int, Assignments] = {}


def table(
    namespace: Mapping[str, Any], hidden: Mapping[str, Any], cells: Sequence[str]
) -> dict[str, Any]:
    """Return the arrays that variables refer to, largest first, and the bytes of the others.

    Parameters
    ----------
    namespace : mapping
        The user's variables.
    hidden : mapping
        Names that are not the user's.
    cells : sequence of str
        The code of the cells, by their numbers.
    """
    rows: list[dict[str, Any]] = []
    owners: dict[int, str] = {}
    known = 0
    for name, array in _arrays_of(namespace, hidden):
        shape = variables.shape_text(array)
        row = {"name": name, "shape": shape, "bytes": None, "note": "not computed"}
        node = _node_of(array)
        if node.trace is None:
            storage = node.storage
            row["bytes"], row["note"] = storage.buffer.capacity, ""
            if id(storage) in owners:
                row["bytes"], row["note"] = 0, f"memory of {owners[id(storage)]}"
            owners.setdefault(id(storage), name)
            known += row["bytes"]
        row["line"] = _line_of(name, cells)
        rows.append(row)
    rows.sort(key=lambda row: row["bytes"] or 0, reverse=True)
    in_use = sum(device.memory.in_use for device in gpu_work.open_devices())
    return {"rows": rows[:MOST], "others": max(0, in_use - known)}


def _arrays_of(
    namespace: Mapping[str, Any], hidden: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    package = sys.modules.get("browsergpu")
    kind = getattr(package, "Array", None)
    if kind is None:
        return
    seen: set[int] = set()
    for name, value in variables.shown(namespace, hidden):
        yield from _within(name, value, kind, seen, DEPTH)


def _within(
    name: str, value: Any, kind: type, seen: set[int], depth: int
) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a value, with expressions that return them."""
    if isinstance(value, kind):
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value
        return
    parts: list[tuple[str, Any]] = []
    if depth == 0:
        return
    if type(value) in (list, tuple):
        parts = [(f"{name}[{i}]", one) for i, one in enumerate(value[:MOST_ELEMENTS])]
    elif type(value) is dict:
        items = list(value.items())[:MOST_ELEMENTS]
        parts = [(f"{name}[{key!r}]", one) for key, one in items if isinstance(key, str | int)]
    elif isinstance(value, _module_class()):
        parts = [
            (f"{name}.{path}", one)
            for group in (value.named_parameters(), value.named_buffers())
            for path, one in group
        ]
    for path, one in parts:
        yield from _within(path, one, kind, seen, depth - 1)


def _node_of(array: Any) -> Any:
    from browsergpu.arrays.autograd.variable import node_of

    return node_of(array)


def _module_class() -> Any:
    module = sys.modules.get("browsergpu.networks.module")
    return getattr(module, "Module", ())


def _line_of(name: str, cells: Sequence[str]) -> str:
    """Return the line that last assigned a variable, as "Cell 3, line 2", or ""."""
    variable = name.partition(".")[0].partition("[")[0]
    for number in range(len(cells) - 1, 0, -1):
        if number not in _assignments:
            _assignments[number] = _assigned_in(cells[number])
        line = _assignments[number].get(variable)
        if line is not None:
            return f"Cell {number}, line {line}"
    return ""


def _assigned_in(code: str) -> Assignments:
    """Return the last line that assigns each name, outside of functions and classes."""
    try:
        waiting: list[ast.AST] = [ast.parse(code)]
    except (SyntaxError, ValueError):
        return {}
    lines: Assignments = {}
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = max(node.lineno, lines.get(node.id, 0))
        waiting += ast.iter_child_nodes(node)
    return lines
