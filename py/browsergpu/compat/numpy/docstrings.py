"""Docstrings of functions with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any


def docstring(name: str, theirs: Callable[..., Any], note: str = "") -> str:
    """Return the docstring of a function that implements one of NumPy's.

    Parameters
    ----------
    name : str
        NumPy's name of the function, such as "linalg.norm".
    theirs : callable
        NumPy's function.
    note : str, optional
        A sentence about the implementation.

    Returns
    -------
    str
        The summary of NumPy's docstring, and a reference to its parameters.
    """
    sentences = f"The arguments are those of ``numpy.{name}``.{note and ' '}{note}"
    summary = _summary(theirs)
    return f"{summary}\n\n{sentences}" if summary else sentences


def _summary(theirs: Callable[..., Any]) -> str:
    """Return the first paragraph of a docstring, without a signature."""
    own_name = getattr(theirs, "__name__", "")
    for paragraph in cleandoc(theirs.__doc__ or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text and not text.startswith(f"{own_name}("):
            return text
    return ""
