"""Completions and documentation by jedi, which reads the code, for names without a value yet."""

from typing import Any

import jedi

# Do not run descriptors of the user's objects, and keep jedi's cache out of the user's files.
jedi.settings.allow_unsafe_interpreter_executions = False
jedi.settings.cache_directory = "/tmp/jedi"

MAX_OPTIONS = 500
KINDS = {
    "module": "namespace",
    "instance": "variable",
    "statement": "variable",
    "param": "variable",
}


def complete(before: str, after: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Complete like completion.complete."""
    found = _script(before, after, namespace).complete(*_place(before))
    typed = found[0].get_completion_prefix_length() if found else 0
    private = before.endswith("_") and typed > 0
    options = [
        {"label": one.name, "type": KINDS.get(one.type, one.type)}
        for one in found
        if private or not one.name.startswith("_")
    ]
    return {"typed": typed, "options": options[:MAX_OPTIONS]}


def describe(before: str, after: str, namespace: dict[str, Any]) -> dict[str, Any] | None:
    """Describe like documentation.describe."""
    script = _script(before, after, namespace)
    place = _place(before)
    of_call = before.rstrip().endswith(("(", ","))
    # Between the parentheses, jedi infers the call's result.
    for name in [] if of_call else script.help(*place) + script.infer(*place):
        if name.type not in ("keyword", "param") and name.docstring():
            head, _, text = name.docstring().partition("\n\n")
            return {"signature": head, "text": text}
    for signature in script.get_signatures(*place):
        return {"signature": signature.to_string(), "text": signature.docstring(raw=True)}
    return None


def _script(before: str, after: str, namespace: dict[str, Any]) -> Any:
    return jedi.Interpreter(before + after, [namespace])


def _place(before: str) -> tuple[int, int]:
    """Return the cursor's line, from 1, and column."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
