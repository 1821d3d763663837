"""From Python to graph to loop IR: what comes out is kept as text, the same on every Python and NumPy. tests/tools/accept.py rewrites it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
import accept

FILES = sorted(accept.FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path):
    text = path.read_text()
    assert accept.render(text) == text


def test_there_are_goldens():
    assert len(FILES) > 10
