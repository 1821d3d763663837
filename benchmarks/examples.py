"""The programs of examples/, whole, after the first calls."""

import importlib.util
import pathlib

from common import Row


def rows(seconds):
    path = pathlib.Path(__file__).parent.parent / "examples" / "run.py"
    spec = importlib.util.spec_from_file_location("examples_run", path)
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    for name, target in (("relief", 2.0), ("digits", 1.2), ("options", None)):
        found = runner.compare(name, seconds * 3)[-1]
        yield Row(f"examples/{name}.py, whole program", found.ratio, "x", target, found.difference, found.as_dict())
