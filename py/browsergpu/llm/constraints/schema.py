"""JSON schemas as regular expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.showing import Description

_NAME = "json_schema"
_DEEPEST = 24
_LONGEST = 100_000
_CHARACTER = r'(?:[^"\\\x00-\x1f\x7f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))'
_INTEGER = "-?(?:0|[1-9][0-9]*)"
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_FORMATS = {
    "date": _DATE, "time": f"{_TIME}Z", "date-time": f"{_DATE}T{_TIME}Z",
    "uuid": "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
}  # fmt: skip
_SIMPLE = {
    "integer": _INTEGER, "number": rf"{_INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    "boolean": "(?:true|false)", "null": "null",
}  # fmt: skip
#: Keywords without effect on what is valid.
_NOTES = {
    "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default",
    "examples", "deprecated", "readOnly", "writeOnly",
}  # fmt: skip
_OF_TYPE: dict[str, set[str]] = {
    "string": {"minLength", "maxLength", "format"}, "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}  # fmt: skip


def pattern_of(op: str, schema: Any) -> str:
    """Return a pattern of JSON texts that are valid under a schema.

    Properties are in the schema's order, without others. After ``:`` and ``,`` a space may follow.

    Raises
    ------
    Unsupported
        If the schema has a keyword that is not supported, or refers to itself.
    """
    if not isinstance(schema, Mapping):
        raise InvalidType(op, _NAME, schema, "a dict")
    return _Schema(op, schema).pattern(schema, 0)


class _Schema:
    """A schema, whose parts may refer to definitions."""

    def __init__(self, op: str, root: Mapping[str, Any]) -> None:
        self._op, self._root = op, root

    def pattern(self, part: Any, depth: int) -> str:
        if not isinstance(part, Mapping):
            raise InvalidType(self._op, _NAME, part, "a dict for each value")
        if depth > _DEEPEST:
            raise self._refused("parts within parts, or references to itself")
        found = self._of(part, depth)
        if len(found) > _LONGEST:
            raise self._too_long(len(found))
        return found

    def _too_long(self, length: int) -> InvalidArgument:
        given = Description(f"a pattern of {length}")
        return InvalidArgument(
            self._op, _NAME, given, f"a pattern of at most {_LONGEST} characters"
        )

    def _of(self, part: Mapping[str, Any], depth: int) -> str:
        own = {name: value for name, value in part.items() if name not in _NOTES}
        for name in ("$ref", "anyOf", "enum", "const"):
            if name not in own:
                continue
            others = set(own) - {name} - ({"type"} if name in ("enum", "const") else set())
            if others:
                raise self._refused(f"{sorted(others)[0]!r} beside {name!r}")
            value = own[name]
            if name == "$ref":
                return self.pattern(self._referred(value), depth + 1)
            if name == "const":
                return self._text(value)
            if not isinstance(value, list) or not value:
                raise InvalidArgument(self._op, name, value, "a list that is not empty")
            if name == "enum":
                return _either([self._text(one) for one in value])
            return _either([self.pattern(one, depth + 1) for one in value])
        kinds = own.pop("type", None)
        if isinstance(kinds, list) and kinds:
            return _either([self._of_type(kind, own, depth, kinds) for kind in kinds])
        return self._of_type(kinds, own, depth, [kinds])

    def _of_type(self, kind: Any, own: dict[str, Any], depth: int, kinds: list[Any]) -> str:
        known = [*_SIMPLE, *_OF_TYPE]
        if kind not in known:
            raise InvalidArgument(self._op, "type", kind, f"one of {', '.join(known)}")
        taken = set().union(*(_OF_TYPE.get(one, set()) for one in kinds if isinstance(one, str)))
        if others := set(own) - taken:
            raise self._refused(f"{sorted(others)[0]!r} of the type {kind!r}")
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if kind == "string":
            return self._string(own)
        return self._array(own, depth) if kind == "array" else self._object(own, depth)

    def _string(self, own: Mapping[str, Any]) -> str:
        if "format" in own:
            form = own["format"]
            if form not in _FORMATS or "minLength" in own or "maxLength" in own:
                raise self._refused(f"the format {form!r}, or a length beside it")
            return f'"{_FORMATS[form]}"'
        return f'"{_CHARACTER}{self._count(own, "Length", 0)}"'

    def _array(self, own: Mapping[str, Any], depth: int) -> str:
        if "items" not in own:
            raise self._refused("an array without 'items'")
        item = self.pattern(own["items"], depth + 1)
        least, most = self._bounds(own, "Items")
        if most == 0:
            return r"\[\]"
        rest = f"(?:, ?{item}){self._count(own, 'Items', 1)}"
        return rf"\[(?:{item}{rest})\]" if least else rf"\[(?:{item}{rest})?\]"

    def _bounds(self, own: Mapping[str, Any], name: str) -> tuple[int, int | None]:
        least = checks.integer(self._op, f"min{name}", own.get(f"min{name}", 0))
        given = own.get(f"max{name}")
        if given is None:
            return least, None
        return least, checks.integer(self._op, f"max{name}", given, least)

    def _count(self, own: Mapping[str, Any], name: str, before: int) -> str:
        """Return the repetition for the elements after the first ``before`` ones."""
        least, most = self._bounds(own, name)
        last = "" if most is None else max(most - before, 0)
        return f"{{{max(least - before, 0)},{last}}}"

    def _object(self, own: Mapping[str, Any], depth: int) -> str:
        properties, required = own.get("properties", {}), own.get("required", [])
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            raise InvalidType(self._op, _NAME, own, "a dict of properties, and a list of required")
        if not isinstance(own.get("additionalProperties", False), bool):
            raise self._refused("a schema of additionalProperties")
        if unknown := [name for name in required if name not in properties]:
            raise InvalidArgument(self._op, "required", unknown[0], "one of the properties")
        members = [
            (f"{self._text(name)}: ?{self.pattern(value, depth + 1)}", name in required)
            for name, value in properties.items()
        ]
        later = ""  # the members after a first one
        first = ""  # the members if none was before; "" is none
        is_needed = False
        for member, needed in reversed(members):
            here = member + later
            if needed:
                first, is_needed = here, True
            elif first:
                first = f"(?:{here}|{first})" if is_needed else f"(?:{here}|(?:{first})?)"
            else:
                first = f"(?:{here})?"
            if len(first) > _LONGEST:
                raise self._too_long(len(first))
            later = f", ?{member}{later}" if needed else f"(?:, ?{member})?{later}"
        return rf"\{{{first}\}}"

    def _text(self, value: Any) -> str:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InvalidType(self._op, _NAME, value, "values of JSON") from None
        return re.escape(text)

    def _referred(self, where: Any) -> Any:
        if not isinstance(where, str) or not where.startswith("#/"):
            raise self._refused(f"the reference {where!r}. References begin with '#/'")
        found: Any = self._root
        for name in where[2:].split("/"):
            key = name.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise InvalidArgument(self._op, "$ref", where, "the place of a definition")
            found = found[key]
        return found

    def _refused(self, what: str) -> Unsupported:
        return Unsupported(self._op, f"{_NAME} has {what}, which is not supported. Leave it out.")


def _either(patterns: list[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
