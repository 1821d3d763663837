"""Which tests run, and in what surroundings.

--subset=all        everything (the default)
--subset=versions   without `same_everywhere`: what cannot depend on the version of Python or NumPy ran elsewhere
--subset=quick      also without `slow`
"""

import os

import pytest

# Folders whose tests start from text and never look at Python or NumPy.
SAME_EVERYWHERE = ("tests/golden/",)


def pytest_addoption(parser):
    parser.addoption("--subset", choices=("all", "versions", "quick"), default="all", help="which tests to run (tests/conftest.py)")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; ./dev test quick leaves it out")
    config.addinivalue_line("markers", "same_everywhere: depends on neither Python's nor NumPy's version; runs on the newest only")
    # A developer's log settings would change what tests capture. JITNEY_EXEC and JITNEY_COMPARE stay: they choose who is tested.
    for name in ("JITNEY_LOGS", "JITNEY_LOGS_FILE", "JITNEY_DUMP", "JITNEY_STOP", "JITNEY_PASS_LIMIT", "JITNEY_FN_LIMIT"):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(config, items):
    subset = config.getoption("subset")
    if subset == "all":
        return
    kept, left = [], []
    for item in items:
        place = item.path.relative_to(config.rootpath).as_posix()
        everywhere = item.get_closest_marker("same_everywhere") is not None or place.startswith(SAME_EVERYWHERE)
        slow = subset == "quick" and item.get_closest_marker("slow") is not None
        (left if everywhere or slow else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.fixture(scope="session")
def root(pytestconfig):
    return pytestconfig.rootpath
