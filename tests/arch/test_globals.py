"""No mutable global but the ones listed here: read from the objects that were built, not from the sources.

A table that CPython's C interface wants as non-const (methods, slots, specifications) is recognised by its type."""

import os
import re
import subprocess
import sys

import pytest
from tree import LAYERS, ROOT, code

# What is one per process, not per interpreter or per function, with the reason.
ALLOWED = {
    "runtime/function.c: jy_runtime": "the one struct that holds all state",
    "runtime/module.c: jy_numpy_array_api": "NumPy's import fills it once",
    "runtime/module.c: jy_numpy_array_apiPyArray_RUNTIME_VERSION": "NumPy's import fills it once",
    "runtime/module.c: jy_numpy_ufunc_api": "NumPy's import fills it once",
    "frontend/inspect_array.c: PyArray_API": "NumPy's import fills it once",
    "frontend/inspect_array.c: PyUFunc_API": "NumPy's import fills it once",
    "frontend/cpython/hook.c: hook": "the interpreter has one eval-frame slot",
    "frontend/np_table.c: numpy": "NumPy's callables, looked up once",
    "frontend/cpython/iter.c: ascii_iter": "a type of CPython's without a name, looked up once",
    "backend_llvm/session.c: session": "LLVM's target machine, made at the first compilation",
    "backend_llvm/diagnostics.c: last": "the text of LLVM's last complaint: its handlers take no argument of ours that outlives a call",
    "runtime/alloc.c: state": "the blocks that are kept for the next large result",
    "runtime/alloc.c: handler": "NumPy's memory handler interface holds functions of ours by address",
    "runtime/backend.c: backend": "the shared object that was opened, once",
    "runtime/blas.c: state": "the BLAS that NumPy has loaded, looked up once",
    "runtime/fpstatus.c: state": "how NumPy keeps errstate, looked up once",
    "runtime/loops.c: state": "NumPy's inner loops and its rule for sums, looked up once",
    "runtime/vector.c: state": "the vector functions behind NumPy's inner loops, looked up once",
    "runtime/pool.c: state": "the threads of the process",
    "runtime/gil.c: state": "who is away from the GIL, which is one for the process",
    "runtime/loader.c: slabs": "pages of machine code, freed with the functions in them",
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
    name = re.escape(plain(name))
    return re.search(rf"\b(?:{TABLES})\s+{name}\b|\bstatic char \*(?:const )?{name}\[\]", code(source)) is not None


@pytest.mark.skipif(not (ROOT / "build").exists() and not os.environ.get("CI"), reason="nothing is built yet: ./dev build")
def test_only_listed_globals_change():
    built = objects()
    assert {source.split("/")[0] for _, source in built} == set(LAYERS), "every layer is built"
    found = {f"{source}: {plain(name)}" for path, source in built for name in mutable(path) if not is_table(source, name)}
    assert sorted(found - set(ALLOWED)) == []
    assert sorted(set(ALLOWED) - found) == [], "listed, but gone"


def plain(name):
    """Without the number that a function's static has."""
    return re.sub(r"\.\d+$", "", name)


def test_a_mutable_global_would_be_found(tmp_path):
    (tmp_path / "x.c").write_text("static int hidden; int *seen(void) { return &hidden; } int given = 3; const int *const fine = &given;\n"
                                  "int *counter(void) { static int calls = 1; calls++; return &calls; }\n")
    subprocess.run(["gcc", "-fPIC", "-c", "x.c", "-o", "x.o"], cwd=tmp_path, check=True)
    assert sorted(plain(name) for name in mutable(tmp_path / "x.o")) == ["calls", "given", "hidden"]
