"""Every C file that needs no interpreter has its own unit tests (tests/unit), which run under the sanitizers too."""

import re

import pytest
from tree import ROOT, code, sources

pytestmark = pytest.mark.same_everywhere


def own_tests(path):
    """Names of the tests in <folder>/<name>_test.c whose suite is called as the file that they try."""
    unit = ROOT / "tests" / "unit" / path.parent / f"{path.stem}_test.c"
    if not unit.exists():
        return []
    return re.findall(rf"^TEST\({path.stem}, (\w+)\)", code(unit.relative_to(ROOT)), re.M)


def test_every_file_has_tests_of_its_own():
    files = sources("graph", "backend_llvm", suffixes=(".c",))
    assert len(files) > 50
    assert [str(path) for path in files if not own_tests(path)] == []
