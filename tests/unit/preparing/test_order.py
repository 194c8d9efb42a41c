"""Test files that take long start first."""

import subprocess
import sys

from devsite.layout import REPOSITORY
from runner.order import SLOW, rank
from runner.quick import all_tests


def test_the_slow_files_are_there() -> None:
    assert set(SLOW) <= set(all_tests(REPOSITORY))
    assert len(set(SLOW)) == len(SLOW)


def test_slow_files_come_before_all_others() -> None:
    shuffled = sorted(all_tests(REPOSITORY), reverse=True)
    assert sorted(shuffled, key=rank)[: len(SLOW)] == SLOW


def test_pytest_collects_them_in_this_order() -> None:
    quick, slow, slower = "tests/unit/test_parity.py", SLOW[1], SLOW[0]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-q", quick, slow, slower],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
    )
    files = [line.partition(":")[0] for line in finished.stdout.splitlines() if ".py" in line]
    assert list(dict.fromkeys(files)) == [slower, slow, quick], finished.stdout + finished.stderr
