"""Chat templates: Jinja2's sandbox, with bounds on time and memory.

A template comes from a model's file. The sandbox keeps it from Python's objects. Beside that, loops
and texts are counted here, so that a template cannot run or grow without end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.gpu import platform

_OP = "chat"
_MOST_TURNS = 1_000_000
_LONGEST = 1 << 24  # characters of a text
_LONGEST_TEMPLATE = 1 << 20
#: Methods of strings that cannot return much more than they get.
_STRING_METHODS = frozenset(
    {
        *("strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith"),
        *("upper", "lower", "title", "capitalize", "find", "count", "isdigit", "isalpha"),
        *("removeprefix", "removesuffix", "partition", "rpartition", "replace", "join", "index"),
        *("isspace", "isupper", "islower", "isalnum", "isnumeric"),
    }
)
_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items",
    "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse",
    "round", "safe", "select", "selectattr", "sort", "string", "sum", "title", "trim", "unique",
    "upper", "join", "replace",
)  # fmt: skip


class Limit(Exception):
    """A template goes beyond a bound."""


class ChatTemplate(Shown):
    """A chat template of a model's file.

    Parameters
    ----------
    source : str
        The template in Jinja2's language.
    variables : mapping
        Further variables, such as ``bos_token``.

    Raises
    ------
    InvalidArgument
        If the template is malformed.
    Unsupported
        If the package Jinja2 is missing.
    """

    def __init__(self, source: str, variables: Mapping[str, Any]) -> None:
        if not isinstance(source, str) or len(source) > _LONGEST_TEMPLATE:
            raise InvalidArgument(
                _OP, "template", Description("another value"), f"text up to {_LONGEST_TEMPLATE}"
            )
        #: The template's text.
        self.source = source
        self._variables = dict(variables)
        self._budget = _Budget()
        self._template = _compiled(source, self._budget)

    def _facts(self) -> str:
        return f"of {len(self.source)} characters"

    def render(
        self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool = True,
        **variables: Any,
    ) -> str:  # fmt: skip
        """Return the text of a chat.

        Parameters
        ----------
        messages : sequence of mapping
            Each with ``role`` and ``content``.
        add_generation_prompt : bool
            Whether the text ends with the beginning of an answer.
        **variables
            Further variables of the template, such as ``tools``.
        """
        check_messages(_OP, messages)
        self._budget.start()
        given = {**self._variables, **variables}
        try:
            parts: list[str] = []
            size = 0
            for part in self._template.generate(
                messages=list(messages), add_generation_prompt=add_generation_prompt, **given
            ):
                size += len(part)
                if size > _LONGEST:
                    raise Limit(f"the text has more than {_LONGEST} characters")
                parts.append(part)
            return "".join(parts)
        except (Limit, RecursionError) as error:
            why = str(error) if isinstance(error, Limit) else "it calls itself too deeply"
            raise InvalidArgument(_OP, "template", Description(why), "within bounds") from None
        except Exception as error:  # anything that a template's code can raise
            if type(error).__module__.partition(".")[0] not in ("jinja2", "builtins"):
                raise
            why = f"{type(error).__name__}: {error}"
            expected = "a template for these messages"
            raise InvalidArgument(_OP, "messages", Description(why), expected) from None


def check_messages(op: str, messages: Any) -> None:
    """Raise InvalidType unless messages are mappings with role and content."""
    if not isinstance(messages, list | tuple) or not messages:
        raise InvalidType(op, "messages", messages, "a list of messages")
    for one in messages:
        if not isinstance(one, Mapping) or not isinstance(one.get("role"), str):
            raise InvalidType(op, "messages", one, "dicts with role and content")
        if not isinstance(one.get("content", ""), str | list | type(None)):
            raise InvalidType(op, "messages", one.get("content"), "messages with text as content")


class _Budget:
    """Counts the turns of a template's loops."""

    def __init__(self) -> None:
        self.left = _MOST_TURNS

    def start(self) -> None:
        """Begin a rendering."""
        self.left = _MOST_TURNS

    def counted(self, items: Any) -> Iterator[Any]:
        """Iterate over the items of a loop."""
        for one in items:
            self.left -= 1
            if self.left < 0:
                raise Limit(f"its loops have more than {_MOST_TURNS} turns")
            yield one


def _bounded(text: Any) -> Any:
    if isinstance(text, str | list | tuple) and len(text) > _LONGEST:
        raise Limit(f"a text has more than {_LONGEST} characters")
    return text


def _replaced(text: Any, old: Any, new: Any, count: Any = None) -> str:
    text, old, new = str(text), str(old), str(new)
    times = text.count(old) if count is None or count < 0 else min(count, text.count(old))
    if len(text) + times * len(new) > _LONGEST:
        raise Limit(f"a text has more than {_LONGEST} characters")
    return str(text.replace(old, new, -1 if count is None else count))


def _joined(items: Any, separator: Any = "", attribute: Any = None) -> str:
    if attribute is not None:
        items = [one[attribute] for one in items]
    texts = list(map(str, items))
    if sum(map(len, texts)) + len(texts) * len(str(separator)) > _LONGEST:
        raise Limit(f"a text has more than {_LONGEST} characters")
    return str(separator).join(texts)


def _to_json(value: Any, indent: int | None = None, **options: Any) -> str:
    if indent is not None and not 0 <= indent <= 16:
        raise Limit("tojson indents by more than 16")
    return json.dumps(value, ensure_ascii=False, indent=indent, **options)


def _indented(text: Any, width: Any = 4, first: bool = False, blank: bool = False) -> str:
    space = " " * width if isinstance(width, int) else str(width)
    if len(space) > 64:
        raise Limit("indent has more than 64 characters")
    lines = str(text).splitlines() or [""]
    own = [
        one if (n == 0 and not first) or (not one and not blank) else space + one
        for n, one in enumerate(lines)
    ]
    return str(_bounded("\n".join(own)))


def _raised(message: Any) -> None:
    raise Limit(f"the template refuses: {message}")


def _now(form: Any) -> str:
    return datetime.now().strftime(str(form)[:100])


def _compiled(source: str, budget: _Budget) -> Any:
    if find_spec("jinja2") is None and not platform.load_package("jinja2"):
        raise Unsupported(
            _OP, "Chat templates need the package Jinja2. Install it with pip install jinja2, or "
            "in a page with await micropip.install('jinja2')."
        )  # fmt: skip
    import jinja2
    from jinja2 import nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.visitor import NodeTransformer

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"+", "*", "**", "%"})

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            if isinstance(obj, str) and attr not in _STRING_METHODS:
                return False
            return bool(super().is_safe_attribute(obj, attr, value))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "+":
                return _bounded(left + right)
            if operator == "%" and isinstance(left, int | float):
                return left % right
            if operator == "*" and all(isinstance(x, int | float) for x in (left, right)):
                return _number(left * right)
            raise Limit(f"{operator} of texts or powers is not supported")

        def call(self, context: Any, obj: Any, *args: Any, **options: Any) -> Any:
            owner = getattr(obj, "__self__", None)
            name = getattr(obj, "__name__", "")
            if isinstance(owner, str) and name == "replace":
                return _replaced(owner, *args, **options)
            if isinstance(owner, str) and name == "join":
                return _joined(args[0], owner)
            return _bounded(super().call(context, obj, *args, **options))

    class Counting(NodeTransformer):
        """Counts loops, and bounds texts that are put together."""

        def visit_For(self, node: Any) -> Any:
            self.generic_visit(node)
            node.iter = nodes.Filter(node.iter, "counted", [], [], None, None)
            return node

        def visit_Concat(self, node: Any) -> Any:
            self.generic_visit(node)
            return nodes.Filter(nodes.List(node.nodes), "join", [], [], None, None)

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    allowed: dict[str, Callable[..., Any]] = {
        name: environment.filters[name] for name in _FILTERS if name in environment.filters
    }
    allowed |= {
        "counted": budget.counted, "replace": _replaced, "join": _joined, "tojson": _to_json,
        "indent": _indented,
    }  # fmt: skip
    environment.filters.clear()
    environment.filters.update(allowed)
    for name in ("lipsum", "cycler", "joiner"):
        environment.globals.pop(name, None)
    environment.globals.update(raise_exception=_raised, strftime_now=_now)
    try:
        tree = Counting().visit(environment.parse(source))
        for node in tree.find_all(jinja2.nodes.Node):
            node.environment = environment
        code = environment.compile(tree)
        return jinja2.Template.from_code(environment, code, environment.make_globals(None))
    except (jinja2.TemplateError, RecursionError, SyntaxError, ValueError) as error:
        given = Description(f"{type(error).__name__}: {error}")
        raise InvalidArgument(_OP, "template", given, "a template of Jinja2") from None


def _number(value: Any) -> Any:
    if abs(value) > 1e15:
        raise Limit("a number is larger than 1e15")
    return value
