"""Writes docs/breaks.md from frontend/breaks.def: python tests/tools/breaks.py"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "breaks.md"
STRING = r'"((?:\\.|[^"\\])*)"'
ROW = re.compile(rf"^BREAK\(\s*(\w+),\s*{STRING},\s*{STRING},\s*{STRING}\s*\)", re.M)

HEAD = """# Why a function was left to CPython

`JITNEY_LOGS=graph_breaks` and `jitney.explain(f)(*args)` name one of these reasons, with the file and the line. Refusing is
always correct: the function then runs as if jitney were not there.

Written by `tests/tools/breaks.py` from `frontend/breaks.def`.
"""


def rows():
    """(name, phase, what happened, what to do) for every reason."""
    text = (ROOT / "frontend" / "breaks.def").read_text(encoding="utf-8")
    return [tuple(re.sub(r"\\(.)", r"\1", part) for part in row) for row in ROW.findall(text)]


def document():
    lines, phase = [HEAD], None
    for name, group, what, hint in rows():
        if group != phase:
            lines.append(f"\n## {group}\n\n| reason | what happened | what to do |\n|---|---|---|\n")
            phase = group
        lines.append("| " + " | ".join(part.replace("|", "\\|") for part in (f"`{name}`", what, hint)) + " |\n")
    return "".join(lines)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
