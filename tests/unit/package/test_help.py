"""Help for users: docstrings, and suggestions for misspelled names."""

from __future__ import annotations

import traceback
from inspect import getdoc

import numpy as np
import pytest

import browsergpu as bg

pytestmark = pytest.mark.fast


def test_a_typing_slip_gets_one_suggestion() -> None:
    with pytest.raises(AttributeError) as caught:
        bg.concatinate  # noqa: B018
    told = "".join(traceback.format_exception(caught.value))
    assert told.count("Did you mean") == 1
    assert told.endswith("Did you mean 'concatenate'?\n")


@pytest.mark.parametrize("name", ["sum", "zeros", "cbrt", "isnat", "loadtxt", "busday_count"])
def test_functions_without_a_text_of_their_own_have_numpys_summary(name: str) -> None:
    function, theirs = getattr(bg, name), getattr(np, name)
    text = getdoc(function)
    assert text
    if function is theirs:
        return
    summary = text.splitlines()[0]
    assert summary in " ".join((getdoc(theirs) or "").split())
    assert f"numpy.{name}" in text
