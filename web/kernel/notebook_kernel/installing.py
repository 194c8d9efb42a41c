"""`%pip install` by micropip. `!pip install` means the same."""

import re
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

LINE = re.compile(r"^(?P<indent>\s*)[%!]pip(?:3)?(?P<rest>[ \t]+.*)?$")
USAGE = (
    "Supported here: %pip install NAME …, also of a file NAME.whl, with -r FILE, --upgrade, --pre "
    "or --no-deps; %pip list; %pip show NAME; %pip uninstall NAME …"
)


def transform(lines: list[str]) -> list[str]:
    """Turn each %pip line into a Python line that awaits."""
    return [_transformed(line) for line in lines]


def _transformed(line: str) -> str:
    match = LINE.match(line.rstrip("\n"))
    if not match:
        return line
    rest = (match["rest"] or "").strip()
    module = "__import__('notebook_kernel.installing').installing"
    return f"{match['indent']}await {module}.pip({rest!r})\n"


async def pip(line: str) -> None:
    """Run `%pip line`."""
    command, *arguments = shlex.split(line, comments=True) or [""]
    if command == "install":
        await _install(arguments)
    elif command == "list":
        print("\n".join(sorted(f"{one.name} {one.version}" for one in metadata.distributions())))
    elif command == "show" and arguments:
        for name in arguments:
            found = metadata.metadata(name)
            print(f"Name: {found['Name']}\nVersion: {found['Version']}\n{found['Summary']}")
    elif command == "uninstall":
        import micropip

        micropip.uninstall([name for name in arguments if not name.startswith("-")])
    else:
        raise UsageError(USAGE)


async def _install(arguments: list[str]) -> None:
    import micropip

    options: dict[str, Any] = {"verbose": False}
    names: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-r", "--requirement"):
            names += _requirements(next(rest, ""))
        elif argument in ("-i", "--index-url"):
            options["index_urls"] = next(rest, "")
        elif argument in ("-U", "--upgrade", "--force-reinstall"):
            options["reinstall"] = True
        elif argument == "--pre":
            options["pre"] = True
        elif argument == "--no-deps":
            options["deps"] = False
        elif argument in ("-q", "--quiet", "-y", "--yes", "--user", "--no-cache-dir"):
            pass
        elif argument.startswith("-"):
            raise UsageError(f"%pip does not know {argument} here. {USAGE}")
        else:
            names.append(argument)
    if not names:
        raise UsageError(USAGE)
    await micropip.install([_requirement(name) for name in names], **options)
    print(f"Installed {' '.join(names)}.")


def _requirement(name: str) -> str:
    """Return what micropip calls a requirement. A wheel's path becomes an address."""
    if not name.endswith(".whl") or "://" in name or name.startswith("emfs:"):
        return name
    path = Path(name).expanduser().absolute()
    if not path.is_file():
        raise UsageError(f"%pip found no file {name} in {Path.cwd()}.")
    return f"emfs:{path}"


def _requirements(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        lines = [line.partition("#")[0].strip() for line in file]
    return [line for line in lines if line]
