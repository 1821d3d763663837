"""Every header compiles alone, twice, with no more on the include path than its layer may know."""

import functools
import subprocess
import sysconfig

import numpy
import pytest
from tree import ROOT, sources

LLVM = "-m", "mlc_llvm_static.config", "--cmake-dir"


@functools.cache
def flags(layer):
    python = ["-isystem", sysconfig.get_path("include")]
    if layer == "graph":
        return []
    if layer == "frontend":
        return python
    if layer == "runtime":
        version = "NPY_2_0_API_VERSION"
        return [*python, "-isystem", numpy.get_include(), f"-DNPY_NO_DEPRECATED_API={version}", f"-DNPY_TARGET_VERSION={version}"]
    cmake = subprocess.run([ROOT / ".venv/tools/bin/python", *LLVM], capture_output=True, text=True, check=True).stdout.strip()
    return ["-isystem", f"{cmake}/../../../include"]


@pytest.mark.parametrize("header", sources(suffixes=(".h",)), ids=str)
def test_header_compiles_alone(header):
    layer = header.parts[0]
    if layer == "backend_llvm" and not (ROOT / ".venv/tools").exists():
        pytest.skip("LLVM's headers come with ./dev build")
    program = f'#include "{header}"\n#include "{header}"\nextern int nothing;\n'
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Wstrict-prototypes", "-Werror", f"-I{ROOT}", f"-DJY_IN_{layer.upper()}"]
    run = subprocess.run([*command, *flags(layer), "-x", "c", "-"], input=program, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
