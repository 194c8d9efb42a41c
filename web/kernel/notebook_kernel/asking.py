"""`input()` and `getpass()`: a field in the cell, while Python waits."""

import builtins
import getpass
from collections.abc import Callable
from typing import Any

from . import channel, outputs


def install(answers: Any, in_cell: Callable[[], bool]) -> None:
    """Make `input`, `ainput` and `getpass.getpass` ask on the page.

    `answers` is the Answers of answers.js. `in_cell` tells whether there is a cell to ask in.
    """

    def ask(prompt: object, password: bool) -> str:
        if not answers.canBlock:
            raise RuntimeError(
                "this page is not cross-origin isolated, so input() cannot wait: "
                f"write `await ainput({str(prompt)!r})`"
            )
        shown = _begin(in_cell)
        answers.expect()
        _send(shown, prompt, password, blocked=True)
        text = answers.block()
        if text is None:
            raise KeyboardInterrupt
        return _end(shown, prompt, text, password)

    def blocking_input(prompt: object = "", /) -> str:
        """Ask in a field below the cell, wait, and return the typed text."""
        return ask(prompt, password=False)

    async def ainput(prompt: object = "", /, *, password: bool = False) -> str:
        """Ask in a field below the cell, while other tasks continue."""
        shown = _begin(in_cell)
        answer = answers.promise()
        _send(shown, prompt, password, blocked=False)
        return _end(shown, prompt, await answer, password)

    def hidden_input(prompt: str = "Password: ", stream: Any = None, **_options: Any) -> str:
        """Ask for text that is not shown."""
        return ask(prompt, password=True)

    builtins.input = blocking_input
    builtins.__dict__["ainput"] = ainput
    getpass.getpass = hidden_input


def _begin(in_cell: Callable[[], bool]) -> outputs.Outputs:
    shown = outputs.active()
    if shown is None or not in_cell():
        raise EOFError("input() works only in a cell; this code runs outside of cells")
    shown.flush()
    return shown


def _send(shown: outputs.Outputs, prompt: object, password: bool, blocked: bool) -> None:
    channel.send(
        type="input", id=shown.run_id, prompt=str(prompt), password=password, blocked=blocked
    )


def _end(shown: outputs.Outputs, prompt: object, text: str, password: bool) -> str:
    """Print the prompt and the answer, as a terminal would show them."""
    shown.write("stdout", f"{prompt}{'·' * 8 if password else text}\n")
    return text
