"""Griffe extension that adds names from the imported package to those read from source.

Griffe does not find names that are created at run time, such as NumPy's functions. It also omits
members that a class inherits from a private base.
"""

import ast
import contextlib
import inspect
from typing import Any

import griffe

from docsite.names import (
    Namespace,
    first_sentence,
    is_own,
    markdown_of,
    members,
    namespaces,
    public_classes,
    text_of,
    text_of_member,
)

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: griffe.ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: griffe.ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: griffe.ParameterKind.var_keyword,
}


class PublicNames(griffe.Extension):  # type: ignore[misc]
    """Adds an entry with signature and text for each name of each public namespace."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Complete the tree of the package as soon as it has been read."""
        if pkg.path == "browsergpu":
            for space in namespaces():
                _complete(space, pkg)


def _complete(space: Namespace, package: griffe.Module) -> None:
    module = _at(package, space.path)
    _set_text(module, text_of(space.module) or inspect.getdoc(space.module) or "")
    for name in space.names:
        found = space[name]
        if space.is_own_class(name):
            _complete_class(found, _at(package, _path_of(found)))
            if name not in module.members or found.__name__ != name:
                module.set_member(name, griffe.Alias(name, _path_of(found)))
            continue
        module.set_member(name, _entry(name, found, space, package))


def _entry(
    name: str, found: Any, space: Namespace, package: griffe.Module
) -> griffe.Function | griffe.Attribute:
    """A namespace's own entry for a function or a value."""
    text = text_of(found)
    first = getattr(found, "__name__", name)
    if isinstance(found, type) or (first != name and getattr(space.module, first, None) is found):
        return _attribute(name, _second_name(first, found, space))
    if not callable(found):
        return _value(name, found, text, package, space)
    if not is_own(found):
        return _attribute(name, f"NumPy's `{name}`, unchanged. {first_sentence(text)}")
    source = _source(found, package)
    if source is None:
        return _function(name, found, text)
    entry = griffe.Function(
        name, parameters=source.parameters, returns=source.returns, lineno=source.lineno
    )
    entry.labels |= source.labels
    _set_text(entry, text)
    return entry


def _second_name(first: str, found: Any, space: Namespace) -> str:
    if not is_own(found):
        theirs = f"{found.__module__}.{found.__qualname__}"
        return f"NumPy's `{theirs}`, unchanged. {first_sentence(inspect.getdoc(found) or '')}"
    return f"Another name of [`{first}`][{space.path}.{first}]."


def _value(
    name: str, found: Any, text: str, package: griffe.Module, space: Namespace
) -> griffe.Attribute:
    """A constant, with the text below its assignment if there is one, else with its value."""
    written = _at(package, space.path).members.get(name)
    with contextlib.suppress(griffe.AliasResolutionError, griffe.CyclicAliasError):
        if not text and written is not None and written.has_docstring:
            text = written.docstring.value
    value = repr(found)
    return _attribute(name, text or (f"`{value}`" if len(value) < 80 else f"NumPy's `{name}`."))


def _attribute(name: str, text: str) -> griffe.Attribute:
    entry = griffe.Attribute(name)
    _set_text(entry, text)
    return entry


def _function(name: str, found: Any, text: str) -> griffe.Function:
    """A function that is created at run time."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        signature = inspect.Signature()
    parameters = [
        griffe.Parameter(
            parameter.name,
            annotation=_annotation(parameter.annotation),
            kind=_KINDS[parameter.kind],
            default=_default(parameter),
        )
        for parameter in signature.parameters.values()
    ]
    entry = griffe.Function(
        name,
        parameters=griffe.Parameters(*parameters),
        returns=_annotation(signature.return_annotation),
    )
    _set_text(entry, text)
    return entry


def _annotation(found: Any) -> str | None:
    if found is inspect.Signature.empty:
        return None
    return found if isinstance(found, str) else inspect.formatannotation(found)


def _default(parameter: inspect.Parameter) -> str | None:
    if parameter.default is inspect.Parameter.empty:
        defaults: dict[Any, str] = {
            inspect.Parameter.VAR_POSITIONAL: "()",
            inspect.Parameter.VAR_KEYWORD: "{}",
        }
        return defaults.get(parameter.kind)
    written = repr(parameter.default)
    try:
        ast.parse(written, mode="eval")
    except SyntaxError:  # NumPy's <no value>
        return "..."
    return written


def _complete_class(cls: type, found: griffe.Class) -> None:
    for name, base in members(cls).items():
        if name not in found.members:
            source = _member(base, name, found)
            if source is not None:
                found.set_member(name, griffe.Alias(name, source))
            else:
                found.set_member(name, _made_member(cls, name))
        member = found.members[name]
        if not member.has_docstring:
            _set_text(member, text_of_member(cls, name))
        else:
            _set_text(member, member.docstring.value)
    _inherit_constructor(cls, found)
    _leave_out_state(cls, found)
    private = {base.__name__ for base in cls.__bases__ if is_own(base)} - {
        base.__name__ for base in public_classes()
    }
    found.bases = [base for base in found.bases if str(base).rpartition(".")[2] not in private]
    _set_text(found, text_of(cls))


def _inherit_constructor(cls: type, found: griffe.Class) -> None:
    """Add the constructor of a base, whose parameters the page of the class lists."""
    for base in cls.__mro__[1:]:
        if "__init__" in found.members or not is_own(base):
            return
        if "__init__" in vars(base) and (source := _member(base, "__init__", found)) is not None:
            found.set_member("__init__", griffe.Alias("__init__", source))


def _leave_out_state(cls: type, found: griffe.Class) -> None:
    """Remove attributes without a docstring that only the code of the class assigns."""
    kept = {*vars(cls), *members(cls), *getattr(cls, "__annotations__", ())}
    for name, member in list(found.members.items()):
        if member.is_attribute and not member.has_docstring and name not in kept:
            found.del_member(name)


def _member(base: type, name: str, near: griffe.Class) -> griffe.Object | None:
    try:
        source = near.modules_collection.get_member(f"{_path_of(base)}.{name}")
    except KeyError:
        return None
    return source if isinstance(source, griffe.Object) else None


def _made_member(cls: type, name: str) -> griffe.Function | griffe.Attribute:
    found = inspect.getattr_static(cls, name)
    text = text_of_member(cls, name)
    if callable(found):
        return _function(name, found, text)
    return _attribute(name, text)


def _source(found: Any, package: griffe.Module) -> griffe.Function | None:
    """Return what Griffe read of a function, unless a decorator changed it."""
    if hasattr(found, "of_numpy") or not inspect.isfunction(found):
        return None
    try:
        source = package.modules_collection.get_member(_path_of(found))
    except KeyError:
        return None
    if not isinstance(source, griffe.Function):
        return None
    names = [parameter.name for parameter in source.parameters]
    return source if names == list(inspect.signature(found).parameters) else None


def _path_of(found: Any) -> str:
    return f"{found.__module__}.{found.__qualname__}"


def _at(package: griffe.Module, path: str) -> Any:
    found = package.modules_collection.get_member(path)
    return found.final_target if found.is_alias else found


def _set_text(entry: Any, text: str) -> None:
    target = entry.final_target if entry.is_alias else entry
    text = markdown_of(text)
    target.docstring = griffe.Docstring(text, parent=target, parser="numpy") if text else None
