"""The source tree as the architecture tests see it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("graph", "frontend", "backend_llvm", "runtime")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def sources(*layers, suffixes=(".c", ".h", ".def")):
    """Files of the layers as paths below the root, sorted."""
    found = (path for layer in layers or LAYERS for path in (ROOT / layer).rglob("*"))
    return sorted(path.relative_to(ROOT) for path in found if path.suffix in suffixes)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def code(path):
    """Without comments and strings, with the lines where they were."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: '""' if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text(path), flags=re.S)


def includes(path):
    """(name, is one of ours) for every include."""
    return [(name, bracket == '"') for bracket, name in INCLUDE.findall(text(path))]


def rows(path, *macros):
    """First column of every row of a table."""
    return re.findall(rf'^(?:{"|".join(macros)})\(\s*"?(\w+)', text(path), re.M)
