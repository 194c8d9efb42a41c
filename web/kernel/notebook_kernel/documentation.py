"""Signatures and docstrings of names at the cursor."""

import inspect
import io
import re
import tokenize
from collections.abc import Mapping
from typing import Any

from .completion import MISSING, resolve

MAX_CHARACTERS = 20_000
NAME_BEFORE = re.compile(r"[A-Za-z_][\w.]*$")
NAME_AFTER = re.compile(r"\w*")
OPEN, CLOSE = "([{", ")]}"


def describe(before: str, after: str, namespace: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `{"signature", "text"}` of the name at the cursor, or of the function being called.

    The result is `{"unresolved": True}` if only an analysis of the code can tell, and None if there
    is nothing. It neither calls objects nor takes their repr, which may wait for the GPU.
    """
    path = name_at(before, after) or called(before)
    if path is None:
        return None
    found = resolve(path, namespace) if path else MISSING
    if found is MISSING:
        return {"unresolved": True}
    text = inspect.getdoc(found) or ""
    return {"signature": _signature(path, found), "text": text[:MAX_CHARACTERS]}


def name_at(before: str, after: str) -> str:
    """Return the dotted name at the cursor, up to the end of the word."""
    match = NAME_BEFORE.search(before)
    rest = NAME_AFTER.match(after)
    return f"{match[0]}{rest[0] if rest else ''}" if match else ""


def called(before: str) -> str | None:
    """Return the dotted name before the innermost open parenthesis, "" for an unnamed callee."""
    names: list[str | None] = []
    path = ""
    for kind, text in _tokens(before):
        if text in OPEN:
            names.append(path if text == "(" else None)
            path = ""
        elif text in CLOSE:
            if names:
                names.pop()
            path = ")"
        elif kind == tokenize.NAME:
            path = f"{path}{text}" if path.endswith(".") else text
        elif text == "." and path:
            path += "."
        else:
            path = ""
    while names and names[-1] is None:
        names.pop()
    if not names:
        return None
    path = names[-1] or ""
    return path if NAME_BEFORE.fullmatch(path) else ""


def _tokens(before: str) -> list[tuple[int, str]]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(before).readline):
            if token.string.strip():
                found.append((token.type, token.string))
    except (tokenize.TokenError, SyntaxError):
        # Code that is being typed ends early.
        pass
    return found


def _signature(path: str, found: Any) -> str:
    if not callable(found):
        facts = [type(found).__name__]
        for name in ("dtype", "shape"):
            try:
                facts.append(f"{name} {getattr(found, name)}")
            except Exception:
                continue
        return f"{path}: {', '.join(facts)}"
    try:
        return f"{path}{inspect.signature(found)}"
    except (TypeError, ValueError):
        return f"{path}(…)"
