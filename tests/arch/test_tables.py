"""The tables are complete, and what they promise is used, tested and documented."""

import opcode
import re
import sys

import breaks
import pytest
from tree import code, rows, sources, text

OPCODES = f"frontend/cpython/opcodes_3_{sys.version_info[1]}.def"
REASONS = rows("frontend/breaks.def", "BREAK")


def test_every_opcode_of_this_python_has_one_row():
    # co_code shows neither specialised nor instrumented opcodes, and a code object holds no pseudo-instruction (256 and up).
    known = {name for name, number in opcode.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}
    listed = rows(OPCODES, "OPCODE", "OPCODE_BREAKS")
    assert len(listed) == len(set(listed))
    assert set(listed) == known


@pytest.mark.same_everywhere
def test_every_handler_is_defined_once():
    named = {handler for minor in (11, 12, 13) for handler in re.findall(r"^OPCODE\(\s*\w+,\s*(\w+)", text(f"frontend/cpython/opcodes_3_{minor}.def"), re.M)}
    defined = [name for path in sources("frontend", suffixes=(".c",)) for name in re.findall(r"^(op_\w+)\(", code(path), re.M)]
    assert named <= set(defined)
    assert {name for name in defined if defined.count(name) > 1} == set()


def used_reasons():
    """Every name behind BREAK_ in C, and the reasons that opcode rows name."""
    found = set()
    for path in sources("frontend", "runtime"):
        if path.name in ("breaks.def", "breaks_why.def"):
            continue
        found |= set(re.findall(r"(?:\b|JY_)BREAK_(\w+)", code(path)))
        found |= set(re.findall(r'\b(?:refuse_because|jy_report_left)\([^"()]*"(\w+)"', text(path)))
        found |= set(re.findall(r"\bOPCODE_BREAKS\(\s*\w+,\s*(\w+)", code(path)))
        if path.suffix == ".def" and path.parts[0] == "frontend":  # a column of another table may hold a reason
            found |= set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", code(path)))
    return found


@pytest.mark.same_everywhere
@pytest.mark.parametrize("reason", REASONS)
def test_break_reason_is_used(reason):
    assert reason in used_reasons()


@pytest.mark.same_everywhere
def test_every_reason_has_what_why_what_to_do_and_a_test():
    assert [row[0] for row in breaks.rows()] == REASONS
    assert list(breaks.faults()) == []
