"""docs/gradients-rules.md lists exactly the functions that have gradients."""

from __future__ import annotations

import re
from pathlib import Path
from types import FunctionType

import pytest
from tests.browser.inside.gradients.modules import defined

import browsergpu
from browsergpu.arrays.autograd.rules import RULES
from browsergpu.compat.numpy.namespace import LEFT_TO_PYTHON

pytestmark = pytest.mark.fast

TEXT = Path(__file__).resolve().parents[2] / "docs" / "gradients-rules.md"
_ROW = re.compile(r"^\| `([\w.]+)` \| ([^|]+?) \|", re.MULTILINE)


def public() -> dict[str, tuple[str, ...]]:
    """Return the gradient rules of public functions, by the function's first name."""
    found: dict[str, tuple[str, ...]] = {}
    seen = set()
    for before in ("", "linalg", "fft", "nn", "image", "special"):
        module = getattr(browsergpu, before) if before else browsergpu
        own = defined(before)
        names = {*module.__all__, *LEFT_TO_PYTHON} if before == "" else module.__all__
        for name in sorted(names):
            one = own.get(name, getattr(module, name))
            key = f"{one.__module__}.{one.__qualname__}" if isinstance(one, FunctionType) else ""
            if key in RULES and key not in seen:
                seen.add(key)
                found[f"{before}.{name}" if before else name] = RULES[key]
    return found


def test_the_table_has_every_rule() -> None:
    text = TEXT.read_text(encoding="utf-8")
    written = {
        name: tuple(re.findall(r"`(\w+)`", parameters)) for name, parameters in _ROW.findall(text)
    }
    assert written == {name: of for name, of in public().items() if of}


def test_the_list_has_every_function_without_gradient() -> None:
    text = TEXT.read_text(encoding="utf-8").partition("\n## Without gradients\n")[2]
    listed = text.partition("\n## ")[0].partition(":\n")[2]
    assert re.findall(r"`([\w.]+)`", listed) == [name for name, of in public().items() if not of]
