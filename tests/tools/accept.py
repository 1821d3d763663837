"""Rewrites the expectations of the goldens that start from Python: python tests/tools/accept.py [FILE ...]; review the diff.

A golden is a text file of sections. `--- python` defines f and args; `--- graph` and `--- plan` are what must come of it."""

import pathlib
import re
import sys

import numpy as np

import jitney

FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "frontend"


def sections(text):
    parts = re.split(r"^--- (\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def produce(source):
    """The sections that a program gives; file names are left out, lines count from the section's first."""
    namespace = {"np": np, "jitney": jitney}
    exec(compile(source, "golden.py", "exec"), namespace)
    g = jitney.compile(namespace["f"])
    g(*namespace["args"])
    found = jitney.inspect(g)
    if len(found) == 0:
        row = found.refusals[0]
        return {"refusal": f"line {row['line']}: {row['name']}: {row['detail'] or row['what']}\n"}
    return {"graph": str(found.graph()).rstrip("\n") + "\n", "plan": found.loop_ir().rstrip("\n") + "\n"}


def render(text):
    source = sections(text)["python"]
    return "--- python\n" + source + "".join(f"--- {name}\n{body}" for name, body in produce(source).items())


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:] or sorted(map(str, FOLDER.glob("*.txt")))):
        path.write_text(render(path.read_text()))
