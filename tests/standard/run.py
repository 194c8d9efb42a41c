"""Run the public test suite of the Array API standard on browsergpu's arrays, in the page.

    .cache/venv/bin/python tests/standard/run.py                    # fetches the suite with git
    .cache/venv/bin/python tests/standard/run.py --suite CHECKOUT   # data-apis/array-api-tests
    … --only array_api_tests/test_fft.py                            # options of pytest

A whole run writes docs/array-api.md: the counts, and every test that failed or was skipped. Exits
with 1 if a test fails that is not in tests/standard/known.toml.

Run tests/run.py first: it prepares .cache/venv.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "browser"), str(HERE)]

import report  # noqa: E402
import suite  # noqa: E402
from harness import in_page_source  # noqa: E402
from harness.lab import Lab  # noqa: E402
from harness.site import urls_of_test_wheels, urls_of_wheels  # noqa: E402

from runner.wheels import ensure_wheels  # noqa: E402

CACHE = ROOT / ".cache"
WHEELS = CACHE / "standard-wheels"
FOLDER = "/standard"
# These names exist and mean 32-bit dtypes; dtypes() does not list them (design.md).
SKIPPED_DTYPES = "float64,complex128"
_RUN = """
import json, sys
sys.path[:0] = ["/suite", {folder!r}]
import in_page_standard
in_page_standard.run({folder!r}, json.loads({arguments!r}), json.loads({environment!r}))
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, help="a checkout with its submodule")
    parser.add_argument("--examples", type=int, default=3, help="of Hypothesis, a test (3)")
    parser.add_argument("--only", nargs="+", default=["array_api_tests"], metavar="TEST")
    parser.add_argument("--minutes", type=float, default=60.0, help="give up after them (60)")
    options = parser.parse_args()
    folder = options.suite or suite.ensure_suite(CACHE / f"array-api-tests-{suite.TAG}")
    ensure_wheels(WHEELS, HERE / "requirements.txt", Path(sys.executable), print)
    arguments = [*options.only, f"--max-examples={options.examples}", "--disable-deadline"]
    begin = time.monotonic()
    files = suite.files(folder)
    reports, device = run(files, [*arguments, "--derandomize"], 60 * options.minutes)
    outcome = report.Outcome.of(reports, report.known_reasons(HERE / "known.toml"))
    print(outcome.text(minutes=(time.monotonic() - begin) / 60))
    if options.only == ["array_api_tests"]:
        page = ROOT / "docs" / "array-api.md"
        page.write_text(outcome.page(suite.VERSION, options.examples, device), encoding="utf-8")
        print(f"{page.relative_to(ROOT)} was written")
    return 1 if outcome.unexplained else 0


def run(
    files: dict[str, str], arguments: list[str], seconds: float
) -> tuple[list[dict[str, Any]], str]:
    """Run the suite's pytest in one page. Return each test's report and the device's name."""
    lab = Lab({"/standard-wheels/": WHEELS})
    reports: list[dict[str, Any]] = []

    def hear(text: str) -> None:
        reports.append(json.loads(text))
        last = reports[-1]
        if last["outcome"] not in ("passed", "skipped"):
            print(f"{last['outcome']}: {last['nodeid']}\n{last['text']}\n", flush=True)
        if len(reports) % 100 == 0:
            print(f"{len(reports)} tests", flush=True)

    try:
        bare = lab.new_bare_page(print, "worker")
        bare.on_report = hear
        bare.boot(["numpy", "micropip"])
        wheels = [
            *urls_of_test_wheels(lab.site_url),
            *urls_of_wheels(WHEELS, f"{lab.site_url}/standard-wheels"),
        ]
        bare.install(wheels, deps=False)
        bare.install([lab.wheel_url])
        bare.write_files(
            {
                "/suite/in_page.py": in_page_source(),
                "/suite/in_page_standard.py": (HERE / "in_page_standard.py").read_text("utf-8"),
                **{f"{FOLDER}/{path}": text for path, text in files.items()},
            }
        )
        environment = {
            "ARRAY_API_TESTS_MODULE": "browsergpu",
            "ARRAY_API_TESTS_VERSION": suite.VERSION,
            "ARRAY_API_TESTS_SKIP_DTYPES": SKIPPED_DTYPES,
        }
        code = _RUN.format(
            folder=FOLDER, arguments=json.dumps(arguments), environment=json.dumps(environment)
        )
        ended = bare.run(code, timeout=seconds)
        if not reports:
            print(ended["terminal"])
        device: str = bare.run("import browsergpu; browsergpu.init().name")
    finally:
        lab.close()
    return reports, device


if __name__ == "__main__":
    sys.exit(main())
