"""Long files and long functions, as a comment: `./dev lint` prints it, and nothing fails by it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG_FILE, LONG_FUNCTION = 1500, 120


def functions(lines):
    """(name, lines) of every function: the name and its parenthesis begin a line, the body ends with a brace in column 0."""
    start = name = None
    for number, line in enumerate(lines):
        if name is None and (found := re.match(r"(\w+)\(", line)):
            name, start = found[1], number
        elif line.startswith("}") and name is not None:
            yield name, number - start + 1
            name = None
        elif line.rstrip().endswith(";") and name is not None and not line.startswith((" ", "\t", "{")):
            name = None


def main():
    total = 0
    for path in sorted(p for layer in ("graph", "frontend", "backend_llvm", "runtime") for p in (ROOT / layer).rglob("*.[ch]")):
        lines = path.read_text(encoding="utf-8").splitlines()
        total += len(lines)
        if len(lines) > LONG_FILE:
            print(f"long file: {path.relative_to(ROOT)}, {len(lines)} lines")
        for name, length in functions(lines):
            if length > LONG_FUNCTION:
                print(f"long function: {path.relative_to(ROOT)}: {name}, {length} lines")
    print(f"{total} lines of C")


if __name__ == "__main__":
    main()
