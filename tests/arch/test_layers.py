"""Who may know whom: include direction, and the one home of Python.h, llvm-c, NumPy's headers and Python's version."""

import re

import pytest
from tree import LAYERS, ROOT, code, includes, sources

pytestmark = pytest.mark.same_everywhere

MAY_INCLUDE = {
    "graph": {"graph"},
    "frontend": {"frontend", "graph"},
    "backend_llvm": {"backend_llvm", "graph"},
    "runtime": {"runtime", "frontend", "backend_llvm", "graph"},
}


def home(path, name):
    """Which layer an include of ours leads to: by its path from the root, else beside the file."""
    if name.split("/")[0] in LAYERS and (ROOT / name).exists():
        return name.split("/")[0]
    return path.parts[0] if (ROOT / path.parent / name).exists() else None


def allowed(what, matches, where):
    """Files that include something that `matches` outside of `where`."""
    found = [f"{path} includes {name}" for path in sources() for name, _ in includes(path) if matches(name) and not where(path)]
    assert not found, f"{what}: {found}"


def test_there_are_sources_in_every_layer():
    assert all(sources(layer, suffixes=(".c",)) for layer in LAYERS)


def test_includes_go_one_way():
    wrong = []
    for path in sources():
        for name, ours in includes(path):
            if not ours or name.startswith("internal/pycore_"):
                continue
            layer = home(path, name)
            if layer is None:
                wrong.append(f"{path}: {name} is no file of ours")
            elif layer not in MAY_INCLUDE[path.parts[0]]:
                wrong.append(f"{path}: {name}")
    assert not wrong


def test_python_headers_stay_above():
    python = re.compile(r"^(Python|opcode|structmember|frameobject|internal/pycore_\w+|cpython/\w+)\.h$")
    allowed("Python's headers belong to frontend/ and runtime/", python.match, lambda path: path.parts[0] in ("frontend", "runtime"))


def test_llvm_stays_in_the_backend():
    allowed("LLVM belongs to backend_llvm/", lambda name: name.startswith(("llvm-c/", "llvm/")), lambda path: path.parts[0] == "backend_llvm")


def test_numpy_headers_have_two_homes():
    at_home = lambda path: path.parts[0] == "runtime" or path.as_posix() == "frontend/inspect_array.c"
    allowed("NumPy's headers belong to runtime/ and frontend/inspect_array.c", lambda name: name.startswith("numpy/"), at_home)


def test_versions_of_python_are_known_in_one_folder():
    found = [str(path) for path in sources() if path.parts[:2] != ("frontend", "cpython") and re.search(r"\bPY_(VERSION_HEX|MINOR_VERSION)\b", code(path))]
    assert not found

