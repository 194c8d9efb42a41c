"""The allowed imports between packages. Only one package imports the browser's modules."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsergpu.engine.core.above import Above

pytestmark = pytest.mark.fast

PACKAGE = Path(__file__).resolve().parents[2] / "py" / "browsergpu"

#: Interfaces of other libraries. They import the public names too, and nothing imports them.
FACES = ("torch", "jax", "onnx")

#: Packages that do the work, in order: a package imports only itself and those before it.
INNER = ("engine", "arrays", "functions", "autograd", "compat", "networks", "compiled")

#: The folders of the engine in order, as INNER.
ENGINE = ("core", "gpu", "kernels", "device", "tensors", "tuning")

#: All packages in order. Modules outside these packages (the public names) import from all of
#: them, and no package imports those modules.
ROOMS = (*INNER, "llm", "dask", *FACES)

#: The modules that use the browser's modules, and those that drive GPUs outside of a browser. Only
#: `engine/gpu` may import them.
THE_PAGE, THE_MACHINE = "engine.gpu.browser", "engine.gpu.native"
BROWSER = {"js", "pyodide", "pyodide_js", "micropip"}
THIRD_PARTY = {"numpy"}
#: What chat templates import where they are used.
OF_LLM = {"jinja2"}
#: Of `torch.vision` for images that are not tensors, and of pictures outside of a browser.
OF_IMAGES = {"PIL"}
#: Libraries that only `dask` may import. `import browsergpu` does not load them.
OF_DASK = {"dask", "distributed", "click"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                # `from browsergpu.engine.core import checks` imports a module, `from
                # browsergpu.engine.core.errors import X` a name in it.
                inner = f"{node.module}.{alias.name}"
                yield inner if inner.removeprefix("browsergpu.") in MODULES else node.module


def own(path: Path) -> Iterator[str]:
    """Yield the package's modules that a file imports."""
    for name in imports(path):
        if name == "browsergpu" or name.startswith("browsergpu."):
            yield name.removeprefix("browsergpu").removeprefix(".")


def room(module: str) -> str:
    return module.split(".")[0]


def in_engine(module: str) -> str:
    """Return the folder of the engine that holds a module, "" if none does."""
    parts = module.split(".")
    return parts[1] if parts[0] == "engine" and len(parts) > 1 else ""


def in_rooms() -> list[str]:
    return [module for module in MODULES if room(module) in ROOMS]


def test_every_folder_is_a_room() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert folders - {"shaders"} == set(ROOMS)


def test_a_newcomer_sees_the_packages_at_once() -> None:
    assert len(ROOMS) <= 12


@pytest.mark.parametrize("module", in_rooms())
def test_imports_go_down(module: str) -> None:
    below = ROOMS[: ROOMS.index(room(module)) + 1]
    for imported in own(MODULES[module]):
        if room(module) in FACES and room(imported) not in ROOMS:
            continue
        assert room(imported) in below, f"{module} imports {imported}, which stands above it"


def test_every_folder_of_the_engine_is_listed() -> None:
    folders = {path.name for path in (PACKAGE / "engine").iterdir() if path.is_dir()}
    assert {name for name in folders if name[0] != "_"} == set(ENGINE)


@pytest.mark.parametrize("module", [name for name in MODULES if in_engine(name)])
def test_imports_in_the_engine_go_down(module: str) -> None:
    below = ENGINE[: ENGINE.index(in_engine(module)) + 1]
    for imported in own(MODULES[module]):
        if room(imported) == "engine":
            assert in_engine(imported) in below, f"{module} imports {imported}, above it"


def test_no_imports_in_a_circle() -> None:
    after = {module: set(own(path)) & MODULES.keys() for module, path in MODULES.items()}
    while after:
        free = [module for module, needed in after.items() if not needed & after.keys() - {module}]
        assert free, f"these import each other: {', '.join(sorted(after))}"
        for module in free:
            del after[module]


#: The kernel families in order. The modules that select kernels are beside the folders.
KERNELS = (
    "base", "text", "elements", "c_text", "fused", "fourier", "linalg", "matmul", "convolution",
    "ordering", "reductions", "networks", "quantized", "",
)  # fmt: skip


@pytest.mark.parametrize("module", [name for name in MODULES if in_engine(name) == "kernels"])
def test_imports_of_kernels_go_down(module: str) -> None:
    def folder(name: str) -> str:
        parts = name.split(".")
        return parts[2] if len(parts) > 3 else ""

    below = KERNELS[: KERNELS.index(folder(module)) + 1]
    for imported in own(MODULES[module]):
        if in_engine(imported) == "kernels":
            assert folder(imported) in below, f"{module} imports {imported}, which stands above it"


@pytest.mark.parametrize("module", MODULES)
def test_the_browser_is_imported_in_one_place(module: str) -> None:
    tops = {imported.split(".")[0] for imported in imports(MODULES[module])}
    assert module.startswith(THE_PAGE) or not tops & BROWSER
    if in_engine(module) != "gpu":
        found = [name for name in own(MODULES[module]) if name.startswith((THE_PAGE, THE_MACHINE))]
        assert not found, f"{module} imports {found}: gpu.platform and gpu.port stand for them"


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_is_needed(module: str) -> None:
    tops = {imported.split(".")[0] for imported in imports(MODULES[module])}
    allowed = set(sys.stdlib_module_names) | BROWSER | THIRD_PARTY | {"browsergpu"}
    more = {"dask": OF_DASK, "llm": OF_LLM}.get(room(module), set())
    if module.startswith(("torch.vision.", "engine.gpu.native.page")):
        more = OF_IMAGES
    assert tops <= allowed | more


def test_nothing_imports_dask_but_itself() -> None:
    for module, path in MODULES.items():
        assert room(module) == "dask" or "dask" not in set(map(room, own(path)))


#: Functions that packages call in packages above them, and the module that registers each.
REGISTERED = {
    ("namespace", ""),
    ("numpy_protocols", "compat.numpy.protocols"),
    ("array_gradients", "autograd.array_methods"),
    ("batching", "autograd.batching.calls"),
    ("variable_operators", "autograd.operators"),
    ("device_array_operations", "compat.executor"),
    ("display", "functions.interchange.display"),
}
#: Modules that register methods of a class in a lower package.
GIVES_METHODS = {"autograd.operators"}


def calls(path: Path, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a function, also with a leading underscore in its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            found = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if found.removeprefix("_") == name:
                yield node


def test_upward_calls_are_registered_as_listed() -> None:
    found = [
        (ast.literal_eval(call.args[0]), module)
        for module, path in MODULES.items()
        for call in calls(path, "register")
        if ast.unparse(call.func) in ("register", "_register")
    ]
    assert sorted(found) == sorted(REGISTERED)
    assert {name for name, _ in found} == set(Above.__slots__)
    given = {module for module, path in MODULES.items() if list(calls(path, "register_methods"))}
    assert given == GIVES_METHODS


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_reaches_upwards(module: str) -> None:
    """Neither through a module name as text, nor through attributes set on an import."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    if room(module) in ROOMS:
        asked = [*calls(MODULES[module], "import_module"), *calls(MODULES[module], "__import__")]
        for call in asked:
            named = call.args[0]
            text = ast.unparse(named)
            assert "browsergpu" not in text, f"{module} imports {text} by its name"
        assert "browsergpu" not in texts or "sys.modules['browsergpu']" not in ast.unparse(tree)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("browsergpu")
        for alias in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    assert target.value.id not in imported, f"{module}: {ast.unparse(node)}"


#: The maximum number of files in a folder.
MOST_FILES = 20


def test_no_folder_has_more_files_than_one_sees() -> None:
    folders = {path.parent for path in MODULES.values()} - {PACKAGE}
    full = {
        str(folder.relative_to(PACKAGE)): count
        for folder in folders
        if (count := len([*folder.glob("*.py")])) > MOST_FILES
    }
    assert not full
