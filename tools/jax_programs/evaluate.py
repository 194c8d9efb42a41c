"""Run snippets in this process, and write descriptions of their results as JSON.

``python evaluate.py jax SNIPPETS`` runs on JAX, and ``python evaluate.py browsergpu SNIPPETS`` on
``browsergpu.jax`` under the name ``jax``. SNIPPETS is a JSON file of texts by name.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any


def described(x: Any) -> Any:
    """Return a result as JSON: arrays with dtype, shape and values."""
    import numpy as np

    if x is None or isinstance(x, bool | int | str):
        return x
    if isinstance(x, float):
        return {"number": repr(x)}
    if isinstance(x, dict):
        return {"dict": {str(key): described(one) for key, one in x.items()}}
    if isinstance(x, list | tuple):
        return {"items": [described(one) for one in x]}
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        data = np.asarray(x)
        parts = data.astype(complex) if data.dtype.kind == "c" else data.astype(float)
        values = parts.reshape(-1)
        flat = [*values.real.tolist(), *values.imag.tolist()] if data.dtype.kind == "c" else (
            values.tolist())  # fmt: skip
        return {"dtype": data.dtype.name, "shape": list(data.shape),
                "values": [repr(one) for one in flat]}  # fmt: skip
    if isinstance(x, np.dtype):
        return {"dtype": x.name}
    return {"other": type(x).__name__}


def run(text: str, names: dict[str, Any]) -> Any:
    """Run a snippet, and return the value of its last expression."""
    tree = ast.parse(text)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<snippet>", "exec"), names)
        return None
    tree.body.pop()
    exec(compile(tree, "<snippet>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<snippet>", "eval"), names)


def main() -> None:
    """Run the snippets of a file, or the cells of pages, which share their names."""
    which, path = sys.argv[1:3]
    if which == "browsergpu":
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "py"))
        import browsergpu.jax

        browsergpu.jax.install()
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
    import jax.scipy  # type: ignore[import-not-found,unused-ignore]
    import numpy as np
    from jax import lax

    warnings.simplefilter("ignore")
    found = {}
    shared: dict[str, dict[str, Any]] = {}
    for name, text in json.loads(Path(path).read_text(encoding="utf-8")).items():
        page = name.partition("#")[0]
        names = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "__name__": "snippets"}
        if page.endswith(".md"):
            names = shared.setdefault(page, names)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found[name] = {"result": described(run(text, names))}
        except Exception as error:
            kinds = [one.__name__ for one in type(error).__mro__]
            found[name] = {"raised": kinds, "message": str(error)[:300]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
