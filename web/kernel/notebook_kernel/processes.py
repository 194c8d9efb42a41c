"""Errors of `!command` and `%%bash`, since a browser starts no programs."""

from typing import Any, NoReturn

from IPython.core.error import UsageError

INSTEAD = {
    "pip": "%pip install NAME installs a package",
    "conda": "%pip install NAME installs a package",
    "ls": "import os; os.listdir() lists the files",
    "cat": "print(open(NAME).read()) shows a file",
    "head": "print(open(NAME).read(1000)) shows the start of a file",
    "cp": "import shutil; shutil.copy(A, B) copies a file",
    "mv": "import shutil; shutil.move(A, B) moves a file",
    "rm": "import os; os.remove(NAME) deletes a file",
    "mkdir": "import os; os.makedirs(NAME) makes a folder",
    "cd": "%cd FOLDER changes the folder",
    "pwd": "%pwd prints the folder",
    "echo": "print(TEXT) prints",
    "wget": "requests.get(URL).content, or the button for files, adds a file",
    "curl": "requests.get(URL).content, or the button for files, adds a file",
    "unzip": "import shutil; shutil.unpack_archive(NAME) unpacks an archive",
    "tar": "import shutil; shutil.unpack_archive(NAME) unpacks an archive",
    "python": "%run NAME.py runs a script",
    "python3": "%run NAME.py runs a script",
    "nvidia-smi": "the status bar below shows the GPU and its memory",
}


def refuse(command: str) -> NoReturn:
    """Raise an error that explains alternatives to the program in `command`."""
    program = command.split()[0] if command.split() else ""
    hint = INSTEAD.get(program)
    raise UsageError(
        f"This notebook runs in the browser, which starts no programs: “{command.strip()}” "
        + (f"cannot run. Instead, {hint}." if hint else "cannot run; only Python can.")
    )


def refuse_script(line: str, cell: str) -> Any:
    """The cell magics %%bash, %%sh, %%script …"""
    refuse(line or cell.strip().partition("\n")[0])
