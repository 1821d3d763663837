"""Which tests run, and in what surroundings.

--quick      without the tests marked `slow`
--versions   without those marked `same_everywhere`, which run on one Python only: no version can change their outcome
"""

import gc
import os

import pytest

# Folders whose tests start from text and never look at Python or NumPy.
SAME_EVERYWHERE = ("tests/golden/",)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the tests marked slow")
    parser.addoption("--versions", action="store_true", help="leave out the tests marked same_everywhere")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; ./dev test quick leaves it out")
    config.addinivalue_line("markers", "not_sanitized: about time or memory, of which ./dev test sanitized has other amounts")
    config.addinivalue_line(
        "markers", "same_everywhere: depends on neither Python's nor NumPy's version; runs on the newest only"
    )
    # A developer's log settings would change what tests capture. JITNEY_EXEC and JITNEY_COMPARE stay: they choose who is tested.
    for name in (
        "JITNEY_LOGS",
        "JITNEY_LOGS_FILE",
        "JITNEY_DUMP",
        "JITNEY_STOP",
        "JITNEY_PASS_LIMIT",
        "JITNEY_FN_LIMIT",
    ):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(config, items):
    quick, versions = config.getoption("quick"), config.getoption("versions")
    sanitized = "asan" in os.environ.get("LD_PRELOAD", "")
    kept, left = [], []
    for item in items:
        folder = item.path.relative_to(config.rootpath).as_posix().startswith(SAME_EVERYWHERE)
        everywhere = versions and (folder or item.get_closest_marker("same_everywhere") is not None)
        slow = quick and item.get_closest_marker("slow") is not None
        other = sanitized and item.get_closest_marker("not_sanitized") is not None
        (left if everywhere or slow or other else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.fixture
def executors():
    """jitney's config, for tests that set who executes native loops and where they are left; behind the test both are as before."""
    import jitney

    before = jitney.config.executor, jitney.config.exit_every
    yield jitney.config
    jitney.config.executor, jitney.config.exit_every = before


@pytest.fixture(autouse=True)
def collector(request):
    """The tests of native loops count how they are left: by a poll, too, where a collection falls due."""
    counts = request.node.path.name.startswith(("test_flow", "test_loop"))
    if counts:
        gc.disable()
    yield
    if counts:
        gc.enable()


@pytest.fixture(scope="session")
def root(pytestconfig):
    return pytestconfig.rootpath
