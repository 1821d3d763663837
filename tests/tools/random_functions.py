"""Runs random Python functions eager and compiled and compares everything that a call leaves behind; shrinks what differs to a file that replays alone.

    python tests/tools/random_functions.py --seconds 300 --seed 1000         batches in processes of their own: a crash or a hang is a finding too
    python tests/tools/random_functions.py --state tests/random/functions.json --seconds 600      goes on where that file stands, and writes the counts back
    python tests/tools/random_functions.py --seed 17 --count 1 --inside      in this process
    python tests/tools/random_functions.py --seed 17 --show                  the program of a seed
    python tests/tools/random_functions.py --executor llvm --exits 3         machine code only, and native loops left at every third check

Compared for each call: result, arguments, globals, class attributes, instances, what is the same object and what is a view of what, output, warnings with their lines, the
exception with its causes, attributes, and its traceback's lines and locals. A program has some functions, each compiled once and called several times. (A frame in
which an exception was handled is another frame than the one that goes on behind a break: what its f_locals show afterwards is not compared.)

Counted: programs, functions, those that ran a graph, calls, runs of graphs, units, breaks, resumptions.
"""

import argparse
import ast
import collections
import faulthandler
import functools
import gc
import io
import json
import linecache
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import types
import warnings

import function_source
import numpy as np

import jitney
from jitney import _jitney

FILE, PRELUDE = function_source.FILE, "<prelude>"
EXECUTORS = ("numpy",) * 18 + ("graph",) * 8 + ("loop",) * 4 + ("llvm",)
GLOBALS = ("G", "H", "W", "TABLE", "LOG", "NEW", "RING", "XA", "XB", "XM")
COUNTED = ("functions", "native_functions", "calls", "compiles", "native_calls", "resumed_calls", "graph_breaks", "graph_runs", "fallback_calls", "flag_reruns", "refusals")
VAGUE_UNBOUND = sys.version_info < (3, 13)  # once it is warm, STORE_FAST and LOAD_FAST are one instruction, on the line of the first
HELPER = re.compile(r"h\d")


class Case:
    """A program and how it is run."""

    def __init__(self, source, calls, executor="numpy", helpers=False, strict=False, every=0, least=2, dynamic=None, functions=("f",), flows=True, exits=0):
        self.source, self.calls, self.executor = source, calls, executor
        self.functions = functions
        self.flows = flows  # loops over numbers are native; numbers that went through them are objects of their own
        self.exits = exits  # native loops are left at every check of that number; 0: where they must
        self.least, self.dynamic = least, dynamic  # operations that make a unit; whether numbers are symbolic
        self.every = every  # every unit ends before its instruction of that number; 0: where it must
        self.helpers = helpers  # the helpers are compiled, too
        self.strict = strict  # warnings are errors

    def change(self, **changes):
        return Case(**{**vars(self), **changes})


def case(seed):
    rng = random.Random(f"case {seed}")
    source, calls, functions = function_source.generate(seed)
    every = rng.choice((0,) * 7 + (1, 2, 3, 5, 8, 13))
    return Case(source, calls, rng.choice(EXECUTORS), rng.random() < 0.15, rng.random() < 0.05, every, rng.choice((0, 0, 1, 1, 2)), rng.choice((None, None, None, True, False)), functions, rng.random() < 0.5)


ASKED = {}  # of how a case is run: what the command line says, instead of chance


def asked_case(seed):
    return case(seed).change(**ASKED)


# ---- the picture of an object: nested tuples that are equal when nothing can tell two worlds apart ----

PLAIN = (type(None), bool, str, bytes, type(...), type(NotImplemented))
HASHED_BY_VALUE = (int, float, complex, str, tuple, np.generic, type(None))
ADDRESS = re.compile(r"0x[0-9a-f]+")


class Picture:
    """Objects are numbered as they are met; met again, they are their number."""

    def __init__(self, handlers=()):
        self.seen, self.kept = {}, []
        self.firsts, self.numbers = {}, []  # of Python's numbers: where the same object was met first
        self.handlers = handlers  # functions with handlers: their frames are not looked into

    def of(self, value):
        kind = type(value)
        if kind is str:
            return "str", ADDRESS.sub("", value)
        if kind is bool or value is None:
            return kind.__name__, value
        if kind in PLAIN or (kind is int and -6 < value < 257):
            return kind.__name__, repr(value)
        if kind in (int, float, complex):  # equal ones may be one object where eager has two, but not the other way round
            self.numbers.append(self.firsts.setdefault(id(value), len(self.numbers)))
            self.kept.append(value)
            return kind.__name__, hex(value) if kind is int else _float(value) if kind is float else (_float(value.real), _float(value.imag))
        if isinstance(value, np.generic):
            self.numbers.append(self.firsts.setdefault(id(value), len(self.numbers)))
            self.kept.append(value)
            return kind.__name__, *self.parts(value, kind)
        if id(value) in self.seen:
            return "same as", self.seen[id(value)]
        number = self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return (kind.__name__, number, *self.parts(value, kind))

    def parts(self, value, kind):
        if isinstance(value, np.generic):
            return _bits(np.asarray(value)), str(value.dtype)
        if kind is np.ndarray:
            return self.array(value)
        if kind in (set, frozenset) and not all(isinstance(item, HASHED_BY_VALUE) for item in value):  # in the order of addresses
            return [self.of(item) for item in sorted(value, key=lambda item: (type(item).__name__, ADDRESS.sub("", repr(item))))]
        if issubclass(kind, (list, tuple, set, frozenset)) and kind.__iter__ in (list.__iter__, tuple.__iter__, set.__iter__, frozenset.__iter__):
            return [self.of(item) for item in value]
        if issubclass(kind, collections.deque):
            return value.maxlen, [self.of(item) for item in collections.deque.__iter__(value)], self.of(getattr(value, "__dict__", None))
        if issubclass(kind, collections.defaultdict):
            return self.of(value.default_factory), [(self.of(key), self.of(item)) for key, item in dict.items(value)]
        if issubclass(kind, dict):
            return [(self.of(key), self.of(item)) for key, item in dict.items(value)]
        if kind is types.FunctionType:
            cells = [self.cell(cell) for cell in value.__closure__ or ()]
            return value.__qualname__, value.__code__.co_name, self.of(value.__defaults__), self.of(value.__kwdefaults__), cells
        if kind is types.MethodType:
            return self.of(value.__self__), value.__func__.__qualname__
        if isinstance(value, type):
            return value.__module__, value.__qualname__
        if isinstance(value, BaseException):
            return self.exception(value)
        attributes = getattr(value, "__dict__", None)
        if kind.__module__ == function_source.MODULE:
            slots = [(name, self.of(getattr(value, name))) for name in getattr(kind, "__slots__", ()) if _has_slot(value, name)]
            return self.of(attributes), slots
        return (ADDRESS.sub("", repr(value)),) if kind.__module__ != "builtins" else ()

    def array(self, value):
        flags = value.flags
        at = 0 if value.base is None or type(value.base) is not np.ndarray else value.__array_interface__["data"][0] - value.base.__array_interface__["data"][0]
        base = None if value.base is None else self.of(value.base) if type(value.base) is np.ndarray else type(value.base).__name__
        items = [self.of(item) for item in value.flat] if value.dtype.hasobject else _bits(value)
        return value.dtype.str, value.dtype.num, value.shape, value.strides, flags.writeable, flags.owndata, items, base, at

    def cell(self, cell):
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "empty"

    def exception(self, error):
        lines, where = [], error.__traceback__
        while where is not None:
            code = where.tb_frame.f_code
            if code.co_filename in (FILE, PRELUDE):
                names = sorted(where.tb_frame.f_locals.items()) if code.co_filename == FILE and code.co_name not in self.handlers else []
                vague = VAGUE_UNBOUND and isinstance(error, UnboundLocalError) and where.tb_next is None
                lines.append((code.co_name, None if vague else where.tb_lineno, [(name, self.of(value)) for name, value in names]))
            where = where.tb_next
        chain = [None if e is None else self.of(e) for e in (error.__cause__, error.__context__)]
        return lines, chain, self.of(error.args), _message(error), getattr(error, "code", None), error.__suppress_context__


def _message(error):
    try:
        return ADDRESS.sub("", str(error))
    except Exception as other:
        return type(other).__name__


def _has_slot(value, name):
    try:
        object.__getattribute__(value, name)
    except AttributeError:
        return False
    return True


def _float(value):
    return value.hex() if value == value else "nan"


def _bits(array):
    if array.dtype.kind in "fc" and (array != array).any():
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()


def unlike(a, b, path=""):
    """Where two pictures differ first, as a sentence, or None."""
    if type(a) is type(b) and isinstance(a, (tuple, list)):
        if isinstance(a, tuple) and a and b and isinstance(a[0], str) and a[0] != b[0]:
            return f"{path}: {_short(a)} against {_short(b)}"
        for k, (x, y) in enumerate(zip(a, b)):
            found = unlike(x, y, f"{path}.{k}")
            if found:
                return found
        return None if len(a) == len(b) else f"{path}: {len(a)} parts against {len(b)}: {_short(a)} against {_short(b)}"
    return None if a == b and type(a) is type(b) else f"{path}: {_short(a)} against {_short(b)}"


def _short(picture):
    text = repr(picture)
    return text if len(text) < 300 else text[:300] + "..."


# ---- runs ----

EAGER_SECONDS = 1.0  # of CPU time that a program may take in CPython


class EndlessError(Exception):
    """The program does not end, or not soon, without the compiler: it is no case."""


class _Clock(BaseException):
    """Rings in a program that does not end."""


class _limit:
    """A region that ends with EndlessError when it takes too long, whatever the program catches."""

    def __enter__(self):
        self.rang = False
        self.before = signal.signal(signal.SIGVTALRM, self.ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, EAGER_SECONDS, 0.1)

    def ring(self, number, frame):
        self.rang = True
        raise _Clock

    def __exit__(self, *error):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self.before)
        if self.rang:
            raise EndlessError


_prelude = compile(function_source.PRELUDE, PRELUDE, "exec")


@functools.lru_cache(16)
def functions_with_handlers(source):
    """Names of functions around a `try` or `with`."""
    found, around = set(), []
    for line in source.splitlines():
        text = line.lstrip()
        indent = len(line) - len(text)
        while text and around and around[-1][0] >= indent:
            around.pop()
        if text.startswith("def "):
            around.append((indent, text[4:].split("(")[0]))
        elif text.startswith(("try:", "with ")):
            found |= {name for _, name in around}
    return found


def load(source):
    """The names of the module."""
    names = {"__name__": function_source.MODULE, "__builtins__": __builtins__}
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    exec(_prelude, names)
    exec(function_source.code_of(source), names)
    return names


def pictures(case, compiled):
    """[(name, picture), ...] of each call, and {name: compiled function}."""
    names, functions = load(case.source), {}
    if compiled:
        for name in [*case.functions, *(filter(HELPER.fullmatch, list(names)) if case.helpers else ())]:
            if name in names:
                functions[name] = names[name] = jitney.compile(names[name], dynamic=case.dynamic)
    classes = [(name, value) for name, value in names.items() if isinstance(value, type) and value.__module__ == function_source.MODULE]
    handlers = functions_with_handlers(case.source)
    rows, plain_out = [], sys.stdout
    for call in case.calls:
        name, bracket, text = call.partition("(")
        f = names[name.strip() or "f"]
        result = error = None
        out = sys.stdout = io.StringIO()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("error" if case.strict else "always")
                arguments = eval(bracket + text, names)
                try:
                    result = f(*arguments)
                except _Clock:
                    raise
                except BaseException as caught_error:
                    error = caught_error
        finally:
            sys.stdout = plain_out
        picture = Picture(handlers)
        rows.append([
            ("exception", None if error is None else type(error).__name__),
            ("result", picture.of(result)),
            ("output", ADDRESS.sub("", out.getvalue())),
            ("warnings", [(w.category.__name__, ADDRESS.sub("", str(w.message)), w.filename, w.lineno) for w in caught]),
            ("arguments", picture.of(arguments)),
            ("globals", [(name, picture.of(names.get(name))) for name in GLOBALS]),
            ("classes", [(name, picture.of(value.__dict__.get("shared"))) for name, value in classes]),
            ("names", [name for name in names if not name.startswith("__compiled_")]),
            ("traceback", picture.of(error)),
            ("same number", picture.numbers),
        ])
        del result, error, arguments, picture, caught
    return rows, names, functions


def compared(case):
    """(index of the call, sentence) or None; the names of the module and the functions compiled."""
    config = jitney.config
    config.executor, config.break_every, config.min_nodes, config.flows = case.executor, case.every, case.least, case.flows
    config.exit_every = case.exits
    config.verify = True
    with _limit():
        eager, _, _ = pictures(case, False)
    ours, names, functions = pictures(case, True)
    return unsound(functions) or (None if eager == ours else _first(eager, ours, case.flows)), names, functions


def unsound(functions):
    """A difference, if the backend was given what it can make no code of: every form is verified, and these programs are small."""
    for f in filter(jitney.is_compiled, functions.values()):
        for refusal in jitney.inspect(f).refusals:
            if refusal["name"] == "BACKEND":
                return 0, f"BACKEND: {refusal}"
    return None


def _first(eager, ours, flows):
    for i, (a, b) in enumerate(zip(eager, ours, strict=True)):
        for (name, x), (_, y) in zip(a, b, strict=True):
            if name == "same number":  # the pictures are equal: as many numbers, in the same places
                lost = [k for k, at in enumerate(x) if at != k and y[k] != y[at]] if not flows else []
                found = f"{name}: {lost} are objects of their own, eager's are not" if lost else None
            else:
                found = unlike(x, y, name)
            if found:
                return i, found
    return None


def first_difference(case):
    return compared(case)[0]


def kind_of(sentence):
    return sentence.split("\n")[0] if sentence.startswith("crash") else re.sub(r"[.\d]+", "", sentence.split(":")[0])


# ---- shrinking ----

def _blocks(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                yield node, field, block


def _parts(statement):
    """Blocks that may stand in a statement's place."""
    for field in ("body", "orelse", "finalbody"):
        if getattr(statement, field, None) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield getattr(statement, field)
    for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield inner.body


def _unparse(tree):
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except Exception:
        return None


def _changed(tree, block, new):
    """The source with `new` in a block's place; restores the block."""
    old = list(block)
    empty = not new and old and isinstance(old[0], ast.stmt)
    block[:] = [ast.Pass()] if empty else new
    text = _unparse(tree)
    block[:] = old
    return text


def statement_edits(source):
    """Smaller sources: large pieces first."""
    tree = ast.parse(source)
    blocks = list(_blocks(tree))
    for size in (32, 16, 8, 4, 2, 1):
        for node, field, block in blocks:
            if len(block) >= size and not (isinstance(node, ast.Module) and size > 1):
                for k in range(len(block) - size, -1, -size):
                    yield _changed(tree, block, block[:k] + block[k + size :])
    for _, _, block in blocks:
        for k, statement in enumerate(block):
            for inner in _parts(statement):
                yield _changed(tree, block, block[:k] + inner + block[k + 1 :])


def expression_edits(source):
    """Smaller sources: expressions replaced by a part of themselves or by a constant, items and arguments dropped."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for field, old in ast.iter_fields(node):
            if isinstance(old, ast.expr) and isinstance(getattr(old, "ctx", ast.Load()), ast.Load) and not isinstance(old, ast.Constant):
                for new in [part for part in ast.iter_child_nodes(old) if isinstance(part, ast.expr)] + [ast.Constant(1)]:
                    setattr(node, field, new)
                    yield _unparse(tree)
                setattr(node, field, old)
            elif isinstance(old, list) and old and not isinstance(old[0], (ast.stmt, ast.ExceptHandler, ast.match_case)):
                for k in range(len(old)):
                    yield _changed(tree, old, old[:k] + old[k + 1 :])
                    if isinstance(old[k], ast.expr):
                        for new in [part for part in ast.iter_child_nodes(old[k]) if isinstance(part, ast.expr)]:
                            yield _changed(tree, old, old[:k] + [new] + old[k + 1 :])


def here(case):
    """The difference of a case as a sentence, in this process."""
    try:
        found = first_difference(case)
    except Exception as error:
        return None if isinstance(error, (SyntaxError, NameError, KeyError, EndlessError)) else f"comparison: {type(error).__name__}"
    return found[1] if found else None


def apart(case):
    """The same in a process of its own, where it may die."""
    code = f"import json, sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); from random_functions import Case, here; print(json.dumps(here(Case(**json.loads(sys.stdin.read())))))"
    try:
        run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], input=json.dumps(vars(case)), capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "crash: hangs"
    return f"crash: exit code {run.returncode}" if run.returncode else json.loads(run.stdout)


def shrink(case, sentence, seconds=40, judge=here):
    """A smaller case with the same kind of difference."""
    wanted, end = kind_of(sentence), time.time() + seconds

    def fails(candidate):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = judge(candidate)
        return found is not None and kind_of(found) == wanted

    def fewer_calls(case):
        i = len(case.calls) - 1
        while i >= 0 and time.time() < end:
            candidate = case.change(calls=case.calls[:i] + case.calls[i + 1 :])
            if candidate.calls and fails(candidate):
                case = candidate
            i -= 1
        return case

    case = fewer_calls(case)
    for changes in ({"executor": "numpy"}, {"helpers": False}, {"strict": False}, {"every": 0}, {"least": 0}, {"dynamic": None}, {"flows": False}):
        if vars(case) != vars(case.change(**changes)) and fails(case.change(**changes)):
            case = case.change(**changes)
    for edits in (statement_edits, expression_edits, statement_edits):
        progress = True
        while progress and time.time() < end:
            progress = False
            for source in edits(case.source):
                if time.time() > end:
                    break
                if source and len(source) < len(case.source) and fails(case.change(source=source)):
                    case, progress = case.change(source=source), True
                    break
    return fewer_calls(case)


def script(case, seed, sentence):
    """A file that runs the case and prints the difference."""
    return f'''# seed {seed}: {sentence[:300]!r}
import sys

sys.path.insert(0, {str(pathlib.Path(__file__).resolve().parent)!r})
from random_functions import Case, here

SOURCE = r\'\'\'
{case.source.strip()}
\'\'\'
CALLS = {case.calls!r}

print(here(Case(SOURCE, CALLS, executor={case.executor!r}, helpers={case.helpers}, strict={case.strict}, every={case.every}, least={case.least}, dynamic={case.dynamic}, functions={case.functions!r}, flows={case.flows}, exits={case.exits})))
'''


def run_seed(seed, shrinking=True):
    """A dict: counts; the sentence and the replaying script of a difference."""
    one = asked_case(seed)
    try:
        found, names, functions = compared(one)
    except EndlessError:
        return {"seed": seed, "endless": 1}
    row = {"seed": seed, "functions": len(one.functions), "native_functions": 0, "graph_runs": 0, "reasons": set()}
    for f in filter(jitney.is_compiled, functions.values()):
        inspection = jitney.inspect(f)
        stats = inspection.stats()
        for name in COUNTED:
            row[name] = row.get(name, 0) + stats.get(name, 0)  # not all of them are inspect()'s
        row["reasons"].update(r["name"] for r in inspection.refusals)
    native = set()
    for name, value in names.items():
        if name.startswith("__compiled_fn_") and value is not None and (runs := _jitney._test_exec_stats(value)["calls"]):
            row["graph_runs"] += runs
            native.add(repr(value).rsplit(" ", 1)[1].rstrip(">"))
    row["native_functions"] = len(native.intersection(functions))
    row["reasons"] = sorted(row["reasons"])
    if found:
        small = shrink(one, found[1]) if shrinking else one
        sentence = here(small) or found[1]
        row |= {"difference": f"call {found[0]}: {found[1]}", "script": script(small, seed, sentence)}
    return row


# ---- long runs ----

def worker(seed, count, shrinking):
    """Runs seeds in this process: a line of JSON for each; the seed is announced before it runs."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    warnings.simplefilter("ignore")  # what the compiler of CPython thinks of the programs
    gc.disable()
    for n in range(seed, seed + count):
        os.write(1, (json.dumps({"start": n}) + "\n").encode())
        faulthandler.dump_traceback_later(180, exit=True)
        row = run_seed(n, shrinking)
        faulthandler.cancel_dump_traceback_later()
        os.write(1, (json.dumps(row) + "\n").encode())
        if n % 100 == 0:
            gc.collect()


def batches(seed, count, seconds, report, shrinking=True, batch=1000):
    """Runs seeds in processes; `report(row)` for each of them. A process that dies is a row with "difference"."""
    end = time.time() + seconds if seconds else None
    last = seed + count
    while seed < last and (end is None or time.time() < end):
        command = [sys.executable, os.path.abspath(__file__), "--worker", "--seed", str(seed), "--count", str(min(batch, last - seed)), *([] if shrinking else ["--whole"]), *(f"--{name}={value}" for name, value in ASKED.items())]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            started = None
            for line in process.stdout:
                row = json.loads(line)
                if "start" in row:
                    started = row["start"]
                else:
                    report(row)
                    seed, started = row["seed"] + 1, None
                    if end is not None and time.time() > end:
                        process.kill()
                        break
            process.wait()
            errors.seek(0)
            text = errors.read()
        if process.returncode in (0, -9):
            continue
        if started is None:
            raise SystemExit(text)
        if process.returncode > 0 and "Timeout (" not in text:  # an exception: a fault of the generator or of this file
            raise SystemExit(text)
        crash = f"crash: exit code {process.returncode}"
        one = asked_case(started)
        found = apart(one)
        if shrinking and found is not None and found.startswith("crash"):
            one = shrink(one, found, 90, apart)
        report({"seed": started, "difference": f"{crash}\n{text[-1500:]}", "script": script(one, started, crash)})
        seed = started + 1


class Summary:
    """Counts of a run. `folder`: where the scripts of differences go; None: they are only counted."""

    def __init__(self, folder=None):
        self.folder, self.start = folder, time.time()
        self.programs = self.units_programs = 0
        self.counts, self.reasons, self.failures = {}, {}, []

    def add(self, row):
        self.programs += "endless" not in row
        self.units_programs += row.get("graph_runs", 0) > 0
        for name, value in row.items():
            if isinstance(value, int) and name != "seed":
                self.counts[name] = self.counts.get(name, 0) + value
        for name in row.get("reasons", ()):
            self.reasons[name] = self.reasons.get(name, 0) + 1
        if "difference" in row:
            self.failures.append(row)
            print(f"\n---- seed {row['seed']}: {row['difference']}", flush=True)
            if self.folder is not None:
                path = pathlib.Path(self.folder) / f"seed_{row['seed']}_{sys.version_info[0]}{sys.version_info[1]}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(row["script"], encoding="utf-8")
                print(path)
            else:
                print(row["script"])

    def __str__(self):
        counts = ", ".join(f"{value} {name}" for name, value in sorted(self.counts.items()))
        speed = self.counts.get("functions", 0) / max(time.time() - self.start, 1e-9)
        return f"{self.programs} programs, {self.units_programs} with native code, {speed:.0f} functions per second, {len(self.failures)} differences\n{counts}"


def read_state(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_state(path, state, version, first, seed, summary):
    """Adds a run to the record of this Python: seeds from `first` up to `seed`, counts, differences."""
    record = state.setdefault(version, {"seeds": [first, first], "programs": 0, "differences": 0, "counts": {}})
    record["seeds"][1] = seed
    record["programs"] += summary.programs
    record["differences"] += len(summary.failures)
    for name in COUNTED:
        record["counts"][name] = record["counts"].get(name, 0) + summary.counts.get(name, 0)
    record["numpy"] = np.__version__
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(state, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="the first seed (default 0, or where --state stands)")
    parser.add_argument("--count", type=int, default=None, help="how many programs (100 without --seconds)")
    parser.add_argument("--seconds", type=float, default=None, help="run for that long")
    parser.add_argument("--state", type=pathlib.Path, default=None, help="JSON file with the counts of each Python: go on there, and add this run")
    parser.add_argument("--out", default=os.path.join(tempfile.gettempdir(), "random_functions"), help="folder for the scripts of differences")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    parser.add_argument("--inside", action="store_true", help="run in this process")
    parser.add_argument("--whole", action="store_true", help="do not shrink")
    parser.add_argument("--executor", choices=sorted(set(EXECUTORS)), default=None, help="who executes all units (default: chance)")
    parser.add_argument("--exits", type=int, default=None, help="native loops are left at every check of that number, 0: never without need (default: chance)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    ASKED.update({name: getattr(options, name) for name in ("executor", "exits") if getattr(options, name) is not None})
    count = options.count or (10**9 if options.seconds else 100)
    version = ".".join(map(str, sys.version_info[:3]))
    state = read_state(options.state) if options.state else {}
    first = options.seed if options.seed is not None else state.get(version, {"seeds": [0, 0]})["seeds"][1]
    if options.show:
        one = asked_case(first)
        print(f"# {one.executor}, helpers compiled: {one.helpers}, warnings are errors: {one.strict}, a break at every {one.every or 'no'}th instruction, units of {one.least} operations, dynamic={one.dynamic}, flows={one.flows}\n{one.source}", *one.calls, sep="\n")
        return
    if options.worker:
        worker(first, count, not options.whole)
        return
    summary = Summary(options.out)
    if options.inside:
        for seed in range(first, first + count):
            summary.add(run_seed(seed, not options.whole))
    else:
        batches(first, count, options.seconds, summary.add, not options.whole)
    print(f"\nseeds {first} to {first + summary.programs - 1}, Python {version}: {summary}")
    for name, n in sorted(summary.reasons.items(), key=lambda item: -item[1])[:25]:
        print(f"{n:6} {name}")
    if options.state:
        write_state(options.state, state, version, first, first + summary.programs, summary)
    sys.exit(bool(summary.failures))


if __name__ == "__main__":
    main()
