"""pytest plugin that adds browsergpu to the backends of array-api-extra's tests.

The tests' fixtures take their parameters from the enum ``Backend``. Markers and options are those
of array-api-extra's ``pyproject.toml``, which the package does not contain.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from array_api_extra._lib import _backends  # type: ignore[import-not-found,unused-ignore]

import browsergpu as bg

bg.set_x64("quiet")

_theirs: Any = _backends.Backend
_members = [("BROWSERGPU", "browsergpu"), *((one.name, one.value) for one in _theirs)]
Backend: Any = Enum("Backend", _members)  # type: ignore[misc]
for _name in ("modname", "like", "pytest_param"):
    setattr(Backend, _name, vars(_theirs)[_name])
_backends.Backend = Backend


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and make warnings errors."""
    for marker in ("skip_xp_backend", "xfail_xp_backend"):
        config.addinivalue_line("markers", f"{marker}(library, reason=None, strict=None)")
    config.addinivalue_line("markers", "thread_unsafe")
    config.addinivalue_line("filterwarnings", "error")
