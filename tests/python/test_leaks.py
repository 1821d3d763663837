"""Cycles of compile, run, drop leave nothing behind: a sample of tests/tools/leaks.py, which does the whole with a thousand cycles."""

import leaks
import pytest

CASES = leaks.cases()
SAMPLE = [
    "construct closure-nonlocal loop", "construct generator-function straight", "construct raise-from with", "construct dataclass straight", "construct global-dict-store loop",
    "construct with-contextmanager with", "loop monte_carlo", "loop nbody_scalars",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_nothing_is_left_behind(name):
    assert leaks.leaks(CASES[name], 60, (0.1, 12, 1000)) is None
