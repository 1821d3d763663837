"""Decode and assemble every code object below the given folders; report what does not come back byte for byte.

    python roundtrip_stdlib.py [--limit N] [FOLDER...]        default: this Python's standard library, and NumPy

The last line is JSON: counts, and the differences by kind.  Exit status 1: something differs."""

import argparse
import collections
import json
import pathlib
import sys
import sysconfig
import types
import warnings

from jitney import _jitney

TABLES = ("co_code", "co_exceptiontable", "co_linetable")
REST = (
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_flags", "co_consts", "co_names",
    "co_varnames", "co_cellvars", "co_freevars", "co_filename", "co_name", "co_qualname", "co_firstlineno",
    "co_stacksize",
)  # fmt: skip


def code_objects(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


def sources(folders, limit):
    n = 0
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            if "site-packages" in path.relative_to(folder).parts:
                continue
            if limit is None or n < limit:
                n += 1
                yield path


def compiled(path):
    """None for what is no Python: the test package has such files on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def default_folders():
    import numpy

    return [sysconfig.get_path("stdlib"), pathlib.Path(numpy.__file__).parent]


def differences(code, again):
    found = [name for name in TABLES + REST if getattr(code, name) != getattr(again, name)]
    if list(code.co_positions()) != list(again.co_positions()):
        found.append("co_positions")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, help="files")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    counts = collections.Counter()
    kinds = collections.Counter()
    for path in sources(options.folders or default_folders(), options.limit):
        top = compiled(path)
        counts["files"] += top is not None
        for code in code_objects(top) if top else ():
            counts["code objects"] += 1
            try:
                found = differences(code, _jitney.bytecode_roundtrip(code))
            except ValueError as refusal:
                found = ["REFUSED"]
                print(f"{path}:{code.co_firstlineno} {code.co_qualname}: {refusal}")
            kinds.update(found)
            for kind in found:
                print(f"{path}:{code.co_firstlineno} {code.co_qualname}: {kind}")
    print(json.dumps({**counts, "differences": kinds}))
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
