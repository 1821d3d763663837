"""No mutable global but the ones listed here: read from the objects that were built, not from the sources.

A table that CPython's C interface wants as non-const (methods, slots, specifications) is recognised by its type."""

import os
import re
import subprocess
import sys

import pytest
from tree import LAYERS, ROOT, code

# Name of the symbol: why it may change.
ALLOWED = {
    "PyArray_API": "NumPy's import fills it once",
    "PyUFunc_API": "NumPy's import fills it once",
    "PyArray_RUNTIME_VERSION": "NumPy's import fills it once",
    "jy_runtime": "the one struct that holds all state",
}
TABLES = "PyMethodDef|PyGetSetDef|PyMemberDef|PyType_Slot|PyType_Spec|PyTypeObject|PyModuleDef|PyModuleDef_Slot|PyNumberMethods|PySequenceMethods|PyMappingMethods"
SYMBOL = re.compile(r"^[0-9a-f]+ [lgu!w ][^\t]* ([.\w*]+)\t[0-9a-f]+\s+(?:\.hidden )?(\S+)$", re.M)


def objects():
    """(object, source) of every layer: the extension's from this Python's build, the backend's from its own."""
    found = []
    for layer in LAYERS:
        build = ROOT / "build" / ("backend" if layer == "backend_llvm" else "3.%d" % sys.version_info[1]) / layer
        for path in sorted(build.rglob("*.o")):
            source = layer + "/" + path.as_posix().split(".dir/", 1)[1].removesuffix(".o")
            if (ROOT / source).exists():
                found.append((path, source))
    return found


def mutable(path):
    """Names of symbols in sections that a program may write; .data.rel.ro is constant after loading."""
    table = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout
    for section, name in SYMBOL.findall(table):
        if re.match(r"\.(data|bss|tdata|tbss)|\*COM\*", section) and not section.startswith(".data.rel.ro") and not name.startswith("."):
            yield name


def is_table(source, name):
    name = re.escape(re.sub(r"\.\d+$", "", name))  # statics of functions have a number
    return re.search(rf"\b(?:{TABLES})\s+{name}\b|\bstatic char \*(?:const )?{name}\[\]", code(source)) is not None


@pytest.mark.skipif(not (ROOT / "build").exists() and not os.environ.get("CI"), reason="nothing is built yet: ./dev build")
def test_only_listed_globals_change():
    built = objects()
    assert {source.split("/")[0] for _, source in built} == set(LAYERS), "every layer is built"
    wrong = [f"{source}: {name}" for path, source in built for name in mutable(path) if name not in ALLOWED and not is_table(source, name)]
    assert not wrong


def test_a_mutable_global_would_be_found(tmp_path):
    (tmp_path / "x.c").write_text("static int hidden; int *seen(void) { return &hidden; } int given = 3; const int *const fine = &given;\n"
                                  "int *counter(void) { static int calls = 1; calls++; return &calls; }\n")
    subprocess.run(["gcc", "-fPIC", "-c", "x.c", "-o", "x.o"], cwd=tmp_path, check=True)
    assert sorted(re.sub(r"\.\d+$", "", name) for name in mutable(tmp_path / "x.o")) == ["calls", "given", "hidden"]
