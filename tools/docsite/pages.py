"""Pages of the API reference, in Markdown that mkdocstrings expands."""

from collections.abc import Iterable, Iterator
from typing import Any

from docsite.names import (
    PACKAGE,
    Namespace,
    first_sentence,
    is_numpys,
    is_own,
    namespaces,
    text_of,
)

FOLDER = "reference"
INDEX = f"{FOLDER}/index.md"

#: The pages of the main namespace's functions, which are too many for one page.
CHAPTERS = {
    "elementwise": "Elementwise functions",
    "arrays": "Other functions of NumPy",
    "package": "Functions of browsergpu alone",
    "values": "Constants, dtypes and NumPy's own objects",
}

#: Lists the members first, without attributes, whose names say enough.
_SUMMARY = "summary: {attributes: false, classes: true, functions: true}"
#: Classes with a private constructor.
_MADE_BY_FUNCTIONS = frozenset(("Array",))


def pages() -> dict[str, str]:
    """The text of each page, by its path among the site's sources."""
    found = {INDEX: _index()}
    for space in namespaces():
        found.update(_main(space) if space.path == PACKAGE else [(page_of(space), _page(space))])
    return found


def page_of(space: Namespace) -> str:
    """The path of a namespace's page."""
    return f"{FOLDER}/{space.path}.md"


def navigation() -> list[Any]:
    """The entries of the reference in the site's navigation."""
    main, *others = namespaces()
    chapters = [{title: _chapter_page(name)} for name, title in CHAPTERS.items()]
    return [
        INDEX,
        {PACKAGE: [page_of(main), *chapters]},
        {f"Classes of {PACKAGE}": [{name: _class_page(main, name)} for name in main.classes]},
        {"Namespaces": [{space.path: page_of(space)} for space in others]},
    ]


def _index() -> str:
    rows = [
        (f"[`{space.path}`]({space.path}.md)", first_sentence(space.module.__doc__ or ""))
        for space in namespaces()
    ]
    lines = ["# API reference", "", "Every public name of the package.", ""]
    return "\n".join([*lines, *_table(("namespace", "contents"), rows)])


def _main(space: Namespace) -> Iterator[tuple[str, str]]:
    """The pages of the main namespace: all names in short, its chapters, and its classes."""
    classes = space.classes
    chapters: dict[str, list[str]] = {name: [] for name in CHAPTERS}
    for name in space.names:
        if name not in classes:
            chapters[_chapter(name, space[name])].append(name)
    lines = [f"# {PACKAGE}", "", *_collected(space.path, ["members: []"])]
    lines += ["", "## Classes", "", *_names(space, classes)]
    for name, title in CHAPTERS.items():
        lines += ["", f"## {title}", "", *_names(space, chapters[name])]
        yield _chapter_page(name), _chapter_text(title, space, chapters[name])
    yield page_of(space), "\n".join(lines)
    for name in classes:
        options = ["heading_level: 1", "show_root_heading: true", _SUMMARY]
        if name in _MADE_BY_FUNCTIONS:
            options.append("merge_init_into_class: false")
        yield _class_page(space, name), "\n".join(_collected(f"{space.path}.{name}", options))


def _chapter(name: str, found: Any) -> str:
    if not callable(found) or isinstance(found, type) or not is_own(found):
        return "values"
    if hasattr(found, "nin"):  # a ufunc
        return "elementwise"
    return "arrays" if is_numpys(name) else "package"


def _chapter_text(title: str, space: Namespace, names: Iterable[str]) -> str:
    lines = [f"# {title}"]
    for name in names:
        lines += ["", *_collected(f"{space.path}.{name}", ["show_root_heading: true"])]
    return "\n".join(lines)


def _chapter_page(name: str) -> str:
    return f"{FOLDER}/{PACKAGE}-{name}.md"


def _class_page(space: Namespace, name: str) -> str:
    return f"{FOLDER}/{space.path}.{name}.md"


def _page(space: Namespace) -> str:
    options = [_SUMMARY, "members:", *(f"  - {name}" for name in space.names)]
    return "\n".join([f"# {space.path}", "", *_collected(space.path, options)])


def _collected(path: str, options: Iterable[str]) -> list[str]:
    """Return the lines that mkdocstrings replaces by the documentation of an object."""
    return [f"::: {path}", "    options:", *(f"      {option}" for option in options)]


def _names(space: Namespace, names: Iterable[str]) -> list[str]:
    rows = [
        (f"[`{name}`][{space.path}.{name}]", first_sentence(text_of(space[name]))) for name in names
    ]
    return _table(("name", ""), rows)


def _table(heads: tuple[str, str], rows: Iterable[tuple[str, str]]) -> list[str]:
    cells = [(name, text.replace("|", r"\|")) for name, text in rows]
    lines = [heads, ("---", "---"), *cells]
    return [f"| {left} | {right} |" for left, right in lines]
