"""Writes docs/breaks.md from frontend/breaks.def and breaks_why.def: python tests/tools/breaks.py

    python tests/tools/breaks.py --check     writes nothing; lists reasons without a why, a test, or a place in the document
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "breaks.md"
STRING = r'"((?:\\.|[^"\\])*)"'
ROW = re.compile(rf"^BREAK\(\s*(\w+),\s*{STRING},\s*{STRING},\s*{STRING}\s*\)", re.M)
WHY = re.compile(rf"^WHY\(\s*(\w+),\s*{STRING}\s*\)", re.M)

HEAD = """# Why a graph ends

`JITNEY_LOGS=graph_breaks` and `jitney.explain(f)(*args)` name one of these reasons, with the file and the line. A break is
always correct: CPython runs the instruction, and compiled code goes on behind it where it can. `fullgraph=True` makes it an
error, `jitney.FullGraphError`.

Written by `tests/tools/breaks.py` from `frontend/breaks.def` and `frontend/breaks_why.def`.
"""


def _table(name, pattern):
    text = (ROOT / "frontend" / name).read_text(encoding="utf-8")
    return [tuple(re.sub(r"\\(.)", r"\1", part) for part in row) for row in pattern.findall(text)]


def rows():
    """(name, phase, what happened, what to do) for every reason."""
    return _table("breaks.def", ROW)


def whys():
    """{name: why it ends a graph}"""
    return dict(_table("breaks_why.def", WHY))


def document():
    lines, phase, why = [HEAD], None, whys()
    for name, group, what, hint in rows():
        if group != phase:
            lines.append(f"\n## {group}\n\n| reason | what happened | why it ends a graph | what to do |\n|---|---|---|---|\n")
            phase = group
        lines.append("| " + " | ".join(part.replace("|", "\\|") for part in (f"`{name}`", what, why.get(name, ""), hint)) + " |\n")
    return "".join(lines)


def tested():
    """Reasons that a test names."""
    tests = [path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".c", ".txt") and path.parent.name not in ("arch", "tools")]
    words = set()
    for path in tests:
        words |= set(re.findall(r"\b(?:BREAK_)?([A-Z][A-Z_]{3,})\b", path.read_text(encoding="utf-8")))
    return words


def faults():
    """What is missing, as sentences."""
    names, why, seen = [row[0] for row in rows()], whys(), tested()
    for name in names:
        if names.count(name) > 1:
            yield f"{name}: two rows in breaks.def"
        if name not in why:
            yield f"{name}: no row in breaks_why.def"
        if name not in seen:
            yield f"{name}: no test names it"
    for name in why:
        if name not in names:
            yield f"{name}: in breaks_why.def, but no reason"
    for name, _, what, hint in rows():
        if not what or not hint:
            yield f"{name}: what happened, or what to do, is empty"
    if TARGET.read_text(encoding="utf-8") != document():
        yield "docs/breaks.md is out of date: run tests/tools/breaks.py"


if __name__ == "__main__":
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(document(), encoding="utf-8")
    found = list(faults())
    print("\n".join(found) or "every reason has what, why, what to do, and a test")
    sys.exit(1 if found else 0)
