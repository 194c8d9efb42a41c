"""Links between widgets, and their layouts."""

from typing import Any


class Layout:
    """Accepted without effect, since the page lays out controls itself."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


def dlink(source: tuple[Any, str], target: tuple[Any, str], transform: Any = None) -> None:
    """Make `target` follow `source`. Both are pairs of a widget and a name."""
    change = transform or (lambda value: value)

    def follow(_change: Any = None) -> None:
        setattr(target[0], target[1], change(getattr(*source)))

    source[0].observe(follow, names=source[1])
    follow()


def link(source: tuple[Any, str], target: tuple[Any, str]) -> None:
    """Make two widgets follow each other."""
    dlink(source, target)
    target[0].observe(lambda change: setattr(source[0], source[1], change["new"]), names=target[1])
