"""Calls of a module's hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Shown


class WithOptions(Shown):
    """A hook that also gets the arguments passed by name."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook


def before(
    module: Any, hooks: Mapping[int, Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of ``forward`` after the hooks."""
    for hook in tuple(hooks.values()):
        if type(hook) is not WithOptions:
            found = hook(module, args)
            if found is not None:
                args = found if isinstance(found, tuple) else (found,)
            continue
        found = hook.hook(module, args, options)
        if found is not None:
            if not isinstance(found, tuple) or len(found) != 2:
                expected = "None or a tuple of arguments and arguments by name"
                raise InvalidType("forward_pre_hook", "result", found, expected)
            args, options = found
    return args, options


def after(
    module: Any, hooks: Mapping[int, Any], args: tuple[Any, ...], options: dict[str, Any],
    result: Any,
) -> Any:  # fmt: skip
    """Return the result of ``forward`` after the hooks."""
    for hook in tuple(hooks.values()):
        if type(hook) is WithOptions:
            found = hook.hook(module, args, options, result)
        else:
            found = hook(module, args, result)
        if found is not None:
            result = found
    return result
