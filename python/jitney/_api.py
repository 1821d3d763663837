"""The functions of the package: thin wrappers around _jitney."""

import ast
import collections
import contextlib
import functools
import types

from . import _jitney, _loops
from ._graph import Graph

is_compiled = _jitney.is_compiled
graph_break = _jitney.graph_break
is_compiling = _jitney.is_compiling
prange = _jitney.prange
FullGraphError = _jitney.FullGraphError
RecompileError = _jitney.RecompileError
_backends = {"llvm": None}


class _Config:
    """Switches: `jitney.config.recompile_limit = 4`. `python -m jitney config` lists them with their environment variables."""

    def __getattr__(self, name):
        return _jitney.config_get(name)

    def __setattr__(self, name, value):
        _jitney.config_set(name, value)

    def __dir__(self):
        return [row[0] for row in _jitney.config_rows()]

    def __repr__(self):
        return "\n".join(f"{name} = {value}  # {text}" for name, _, value, _, text in _jitney.config_rows())


config = _Config()


def register_backend(name, backend):
    """Makes `compile(f, backend=name)` use the callable `backend(graph, example_inputs) -> callable`."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a backend is text, not {name!r}")
    if not callable(backend):
        raise TypeError(f"a backend is a callable (graph, example_inputs) -> callable, not {backend!r}")
    _backends[name] = backend


def list_backends():
    return sorted(_backends)


def _resolve_backend(backend):
    if callable(backend):
        return backend
    if not isinstance(backend, str) or backend not in _backends:
        raise ValueError(f"there is no backend {backend!r}; there are: {', '.join(list_backends())}")
    return _backends[backend]


def compile(
    function=None, *, backend="llvm", fullgraph=False, dynamic=None, fastmath=None, threads=None, inplace=False, recompile_limit=None
):
    """Returns a compiled version of `function`; `function` itself stays as it is. Also a decorator, with or without arguments.

    function   a function, lambda, bound method, staticmethod, classmethod or functools.partial; other callables
               (builtins, classes, generator and coroutine functions) come back as they are
    backend    "llvm", a registered name, or a callable (graph, example_inputs) -> callable
    fullgraph  a call that cannot be compiled as one graph raises FullGraphError (file, line, instruction, reason, hint)
               instead of running in CPython, wholly or in part
    dynamic    True: Python ints are symbolic from the start; False: never; None: from their second value on;
               mark_dynamic and mark_static say it of one argument
    fastmath   True: float arithmetic need not have the bits of CPython and NumPy: sums and products are reassociated (so that a
               loop that adds up floats becomes vectors), and a product with the sum that it goes into is rounded once. NaNs and
               infinities are kept: what they give stays one, and tests for them hold; but which sums overflow depends on their
               order, and so do warnings. It counts for whatever is inlined into the function, too. False: every bit is eager's;
               None: config.fastmath, which is False
    threads    how many threads a loop over jitney.prange may use; None: config.threads. All else runs on one
    inplace    the function object itself is accelerated, also for those who hold it already (3.12 and later)
    recompile_limit
               how many compiled entries this function may have; None: config.recompile_limit. Beyond it calls that fit
               no entry run in CPython (reason RECOMPILE_LIMIT), or raise FullGraphError with fullgraph=True

    Raises TypeError when `function` is not callable, ValueError for an unknown backend or value of dynamic, fastmath,
    threads or recompile_limit.
    """
    if fastmath not in (None, True, False):
        raise ValueError(f"fastmath is True, False or None, not {fastmath!r}")
    if threads is not None and not (type(threads) is int and 1 <= threads < 2**31):
        raise ValueError(f"threads is a number from 1 on or None, not {threads!r}")
    if dynamic not in (None, True, False):
        raise ValueError(f"dynamic is True, False or None, not {dynamic!r}")
    if recompile_limit is not None and not (type(recompile_limit) is int and 0 <= recompile_limit < 2**31):
        raise ValueError(f"recompile_limit is a number from 0 on or None, not {recompile_limit!r}")
    options = {"backend": _resolve_backend(backend), "fullgraph": fullgraph, "dynamic": dynamic, "inplace": inplace, "fastmath": fastmath, "threads": threads or 0}
    if function is None:
        return lambda f: _compile(f, options, recompile_limit)
    return _compile(function, options, recompile_limit)


def _compile(f, options, limit):
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(_compile(f.__func__, options, limit))
    if isinstance(f, types.MethodType):
        return types.MethodType(_compile(f.__func__, options, limit), f.__self__)
    if isinstance(f, functools.partial):
        return type(f)(_compile(f.func, options, limit), *f.args, **f.keywords)
    if not callable(f):
        raise TypeError(f"jitney.compile takes a function, not {type(f).__name__}: {f!r}")
    compiled = _jitney.compile(f, **options)
    marks = getattr(f, "_jitney_marks", None) if isinstance(f, types.FunctionType) else None
    if compiled is not f and is_compiled(compiled) and (marks or limit is not None):
        _jitney.set_marks(compiled, *_texts(marks or {}), -1 if limit is None else limit)
    return compiled


def original(f):
    """The same kind of object as `f` around the function that was compiled."""
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(original(f.__func__))
    if isinstance(f, types.MethodType):
        return types.MethodType(original(f.__func__), f.__self__)
    if isinstance(f, functools.partial):
        return type(f)(original(f.func), *f.args, **f.keywords)
    return _jitney.original(f)


class _Disabled:
    """The region of `with jitney.disable():`; may be entered again, also inside itself. As a decorator, `@jitney.disable()`, it is `@jitney.disable`."""

    def __call__(self, function):
        return disable(function)

    def __enter__(self):
        _jitney.move_disabled(1)
        return self

    def __exit__(self, *exception):
        _jitney.move_disabled(-1)


def disable(function=None):
    """Leaves a function, or a region, to CPython.

    `disable(f)`, also as a decorator: returns `f` marked, and plain again if it was compiled: jitney never compiles it. A
    compiled function that calls it breaks at the call and goes on compiled behind it.

    `with jitney.disable():` no compiled code is entered by this thread inside the block: compiled functions run in
    CPython there. Other threads are not concerned. May be nested. A compiled function that contains such a block runs in CPython
    from there to the next place where compiled code can take over: a loop, or what follows another break.

    Raises TypeError when `function` is not a Python function, method, staticmethod, classmethod or partial of one.
    """
    if function is None:
        return _Disabled()
    if is_compiled(function):
        compiled, function = function, _jitney.original(function)
        _jitney.uninstall(compiled)
    _python_function(function, "disable")._jitney_disable = True
    return function


def _python_function(f, who):
    """The function inside a method, staticmethod, classmethod or partial."""
    inner = f
    while not isinstance(inner, types.FunctionType):
        if isinstance(inner, (staticmethod, classmethod, types.MethodType)):
            inner = inner.__func__
        elif isinstance(inner, functools.partial):
            inner = inner.func
        else:
            raise TypeError(f"jitney.{who} takes a Python function, not {type(f).__name__}: {f!r}")
    return inner


def allow_in_graph(function=None, *, result=None):
    """Marks `function` as one that compiled code may call as it is, without looking inside; returns it. Also a decorator.

    result   the number of the positional argument that the result is like: a new C-contiguous array of the same dtype and
             shape. Then the call is a node of the graph: no break. None: nothing is known of the result before the call,
             and so the call is a break (reason ALLOWED_CALL) with compiled code before and behind it.

    With `result` the function must be pure: it depends on nothing but its arguments, which are arrays and numbers, and changes
    nothing. When it raises, warns or returns something else than declared, CPython runs the whole unit again and calls it
    once more. Mark it before compiled code first calls it.

    Raises TypeError when `function` is not a Python function or `result` is not an int.
    """
    if result is not None and (type(result) is not int or result < 0):
        raise TypeError(f"result is the number of a positional argument or None, not {result!r}")
    if function is None:
        return lambda f: allow_in_graph(f, result=result)
    _python_function(function, "allow_in_graph")._jitney_callout = result
    return function


def assume_constant_result(function):
    """Marks `function` as one whose result for the same arguments never changes; returns it. Also a decorator.

    While compiling, jitney really calls it, once for each set of arguments, and keeps the result for the life of the function:
    compiled code holds the result and calls nothing. Its arguments must be constants or numbers, by position; otherwise the
    call is a break (reason CONSTANT_RESULT). Mark it before compiled code first calls it.

    Raises TypeError when `function` is not a Python function.
    """
    plain = _python_function(function, "assume_constant_result")
    if not hasattr(plain, "_jitney_results"):
        plain._jitney_results = {}
    return function


# Marks: {"dynamic": set, "static": set} of source texts in the function's __dict__, which compile() copies.

def _mark(kind, function, names):
    if function is None or isinstance(function, (str, int)):
        names = (*(() if function is None else (function,)), *names)
        return lambda f: _mark(kind, f, names)
    plain = _plain(function)
    if not is_compiled(plain):
        plain = _python_function(function, f"mark_{kind}")
    code = plain.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
    marks = {key: set(value) for key, value in getattr(plain, "_jitney_marks", {"dynamic": (), "static": ()}).items()}
    for name in names:
        text = _source_text(name, parameters, plain)
        marks[kind].add(text)
        marks["static" if kind == "dynamic" else "dynamic"].discard(text)
    plain._jitney_marks = marks
    if is_compiled(plain):
        _jitney.set_marks(plain, *_texts(marks), -2)
    return function


def _source_text(name, parameters, function):
    if isinstance(name, int) and not isinstance(name, bool) and -len(parameters) <= name < len(parameters):
        name = parameters[name]
    if not isinstance(name, str):
        raise TypeError(f"{function.__qualname__}: an argument is named by text or number, not {name!r}")
    head, bracket, rest = name.partition("[")
    head, dot, attributes = head.partition(".")
    if head not in parameters:
        raise ValueError(f"{function.__qualname__}() has no parameter {head!r}; it has: {', '.join(parameters) or 'none'}")
    try:
        path = ast.parse(name, mode="eval").body
    except SyntaxError:
        path = None
    if not isinstance(path, (ast.Name, ast.Attribute, ast.Subscript)):
        raise ValueError(f"{function.__qualname__}: {name!r} is no path into an argument, such as 'self.steps' or 'sizes[0]'")
    return f"L['{head}']{dot}{attributes}{bracket}{rest}"


def _texts(marks):
    return sorted(marks.get("dynamic", ())), sorted(marks.get("static", ()))


def mark_dynamic(function=None, *names):
    """An int argument is symbolic from the first call on: a new value does not compile again.

    `mark_dynamic(f, "n", 1)` marks arguments of `f`, compiled or not, by name or position and returns `f`; a path into an argument
    works as well: "self.steps", "sizes[0]". `@mark_dynamic("n")` is a decorator; above or below @jitney.compile.

    Without marks an int becomes symbolic when a second value is seen. Sizes of arrays and floats are symbolic always. Ints that
    choose structure (an axis, an index of a tuple) stay constants of the code whatever the mark says. A compiled function forgets
    its entries.

    Raises ValueError for a name that is not a parameter, TypeError when `function` is not a Python function.
    """
    return _mark("dynamic", function, names)


def mark_static(function=None, *names):
    """An int argument is a constant of the compiled code, as are the sizes of an array argument: each new value or shape compiles
    again, up to the recompile limit.

    Called as mark_dynamic is; the later mark of an argument counts. Code for constant sizes may be faster for small arrays and
    loops over their elements. Raises ValueError for a name that is not a parameter, TypeError when `function` is not a Python function.
    """
    return _mark("static", function, names)


class set_stance(contextlib.ContextDecorator):
    """Chooses what compiled functions do from now on, in all threads; also a context manager and a decorator, which put the stance
    back that was there before.

    "default"              compile when no entry fits
    "force_eager"          every call runs in CPython
    "eager_on_recompile"   calls that an entry fits run compiled, the others in CPython: nothing is compiled any more
    "fail_on_recompile"    the same, but where compiled entries exist and none fits, RecompileError is raised, a subclass of
                           RuntimeError; behind a break that means in the middle of the call

    Raises ValueError for another name.
    """

    def __init__(self, stance):
        self._stance = stance
        self._before = [_jitney.set_stance(stance)]
        self._entered = False

    def __enter__(self):
        if self._entered:
            self._before.append(_jitney.set_stance(self._stance))
        self._entered = True
        return self

    def __exit__(self, *exception):
        if not self._before:
            raise RuntimeError("jitney.set_stance(): this region was left already")
        _jitney.set_stance(self._before.pop())

    def __call__(self, function):
        """As a decorator: for the calls of the function, not from now on."""
        _jitney.set_stance(self._before.pop())
        self._entered = True
        return super().__call__(function)


for _method in (_Disabled.__enter__, _Disabled.__exit__, set_stance.__init__, set_stance.__enter__, set_stance.__exit__):
    _method._jitney_disable = True


def reset(function=None):
    """Forgets compiled entries, refusals, learned dynamic ints and statistics of `function`, or of every compiled function: the next
    call compiles again. Marks and options stay. Raises TypeError for an object that is not compiled."""
    _jitney.reset(_plain(function) if function is not None else None)


def _plain(f):
    while not is_compiled(f):
        if isinstance(f, (staticmethod, classmethod, types.MethodType)):
            f = f.__func__
        elif isinstance(f, functools.partial):
            f = f.func
        else:
            break
    return f


class Inspection:
    """What jitney has made of a function. `entry` 0 is the one used last."""

    def __init__(self, function):
        self._function = _plain(function)
        self._data = _jitney.inspect(self._function)

    def _entry(self, entry):
        entries = self._data["entries"]
        if entry >= len(entries):
            hint = f"the last is entry {len(entries) - 1}" if entries else "call it first; jitney.explain says why a call compiles nothing"
            raise IndexError(f"{self._text()}; {hint}")
        return entries[entry]

    def __repr__(self):
        return f"<jitney.inspect: {self._text()}>"

    def _text(self):
        return f"{self._function.__qualname__} has {len(self)} compiled {'entry' if len(self) == 1 else 'entries'}"

    def __len__(self):
        return len(self._data["entries"])

    def graph(self, entry=0):
        """The graph as jitney.Graph."""
        return Graph(self._entry(entry)["graph"])

    def bytecode(self, entry=0):
        """The regenerated code as a code object; `dis.dis` prints it. Entries that are called directly have it too."""
        return self._entry(entry)["code"]

    def guards(self, entry=0):
        """List of texts."""
        return self._entry(entry)["guards"]

    def loop_ir(self, entry=0):
        """Plan and loop IR as text."""
        return self._entry(entry)["loop_ir"]

    def llvm_ir(self, entry=0, optimized=False):
        """LLVM IR as emitted, or as it went to code generation."""
        return self._entry(entry)["llvm_ir_opt" if optimized else "llvm_ir"]

    def asm(self, entry=0):
        return self._entry(entry)["asm"]

    @property
    def goes_on(self):
        """Whether calls may still compile more: there are places in the function where compiled code may take over."""
        return self._data["goes_on"]

    @property
    def fastmath(self):
        """Whether float arithmetic may differ from eager's in its bits: compile(fastmath=True)."""
        return self._data["fastmath"]

    def stats(self):
        """Dict of counters; `compile_ms` by stage."""
        return _jitney.stats(self._function)

    @property
    def units(self):
        """List of Unit in the order of the program: what starts at the call, and what goes on behind breaks."""
        return sorted((Unit(row) for row in self._data["entries"] + self._data["resumed"]), key=lambda unit: unit.start)

    @property
    def loops(self):
        """List of jitney.Loop in the order of the program: the function's loops, and those of functions that are inlined or called in native code."""
        return _loops.find(self._data)

    @property
    def refusals(self):
        """List of dicts: name, what, detail, hint, file, line."""
        return self._data["refusals"] or []


def inspect(function):
    """Graph, bytecode, guards, IR and statistics of a compiled function. Raises TypeError for another object."""
    return Inspection(function)


class Unit:
    """One compiled piece of a function: from an instruction to a return or to the instruction that stopped it.

    start, line        where it begins: offset in the bytecode (0: the call) and line
    stop, stop_line    the instruction that CPython runs behind it; None: it runs to the return
    reason, what, detail, hint, instruction
                       why it stops there (docs/breaks.md); None
    operations         operations of its graph
    guards             texts
    graph              jitney.Graph
    kind               "graph", or "loops": native code for loops over numbers, which leaves into CPython where its fast case ends
    loops              loops that it goes round; 0 for a graph
    runs, exits        times that it ran; list of (place and reason, kind, count), kind "check", "stop", "poll" or "return"; 0 and []
                       for a graph
    pranges            list of (line, why its rounds stay on one thread or None, times that they ran on threads, times that they were undone):
                       its loops over jitney.prange
    unlocked, locked   times that it ran without the GIL; why it never does, or None
    given_up           its runs kept ending too soon: it is not used any more
    """

    def __init__(self, row):
        extent = row["extent"]
        self.graph = Graph(row["graph"])
        self.guards = row["guards"]
        self.operations = sum(node.op == "call" for node in self.graph.nodes)
        self.kind = row.get("kind", "graph")
        reports = row.get("reports", ())
        rounds = sum(report["round"] for report in reports)
        self.loops = rounds or row.get("loops", 0)
        self._recursive = rounds == 0 and any(report["recursive"] for report in reports)
        self.runs, self.exits, self.given_up = row.get("runs", 0), row.get("exits", []), row["off"]
        self.pranges = row.get("pranges", [])
        self.unlocked, self.locked = row.get("unlocked", 0), row.get("locked")
        self.start, self.line = extent["start"], extent["line"]
        self.stop, self.stop_line = extent.get("stop"), extent.get("stop_line")
        self.reason, self.what, self.detail, self.hint, self.instruction = (
            extent.get(key) for key in ("name", "what", "detail", "hint", "instruction")
        )

    def __str__(self):
        return "\n".join(self._lines(()))

    def _lines(self, told):
        """`told`: texts and kinds of exits, and "prange LINE", that are not listed here."""
        begin = "the call" if self.start == 0 else f"line {self.line} (offset {self.start})"
        if self.kind == "loops":
            head = f"  {self._loops()} from {begin}: {_count(len(self.guards), 'guard')}"
            return [head] + self._gil() + self._pranges(told) + self._exits(told)
        end = "the return" if self.stop is None else f"line {self.stop_line} (offset {self.stop}{_space(self.instruction)})"
        lines = [f"  unit from {begin} to {end}: {_count(self.operations, 'operation')}, {_count(len(self.guards), 'guard')}"]
        if self.reason is not None:
            lines.append(f"    stops: {self.reason}: {self.what}{_colon(self.detail)}")
            if self.hint:
                lines.append(f"    hint: {self.hint}")
        return lines

    def _loops(self):
        what = "a function that calls itself" if self._recursive else _count(self.loops, "loop")
        return f"native code for {what}{', given up,' * self.given_up}"

    def _gil(self):
        return [f"    {_count(self.unlocked, 'run')} without the GIL"] * (self.unlocked != 0)

    def _exits(self, told):
        return [f"    left {_count(count, 'time')} at {text}" for text, kind, count in self.exits if text not in told and kind not in told]

    def _pranges(self, told):
        lines = []
        for line, why, runs, undone in self.pranges:
            if f"prange {line}" in told:
                continue
            text = f"on one thread: {why}" if why else f"{runs} time{'s'[: runs != 1]} on threads{f', {undone} undone' * (undone != 0)}"
            lines.append(f"    prange in line {line}: {text}")
        return lines

    __repr__ = __str__


def _colon(text):
    return f": {text}" if text else ""


def _space(text):
    return f" {text}" if text else ""


def _count(n, noun):
    return f"{n} {noun}{'s'[: n != 1]}"


def _refusal(row):
    return f"  {row['file']}:{row['line']}: {row['name']}: {row['what']}{_colon(row['detail'])}", f"\n    hint: {row['hint']}" * bool(row["hint"])


class Explanation:
    """What was compiled of one call, and what not and why. `str()` is a report.

    units      list of Unit in the order of the program
    refusals   list of dicts: name, what, detail, hint, file, line: what was not compiled at all
    loops      list of jitney.Loop, one per loop: native, unrolled, per body or left, vectorised or why not, its checks, its exits
    compiled   whether anything was
    graph, guards   of the first unit; None and [] when nothing was compiled
    stats      dict of counters
    fastmath   whether float arithmetic may differ from eager's in its bits
    error      the exception that the call raised, or None
    goes_on    whether later calls may still compile more: places where compiled code may take over are kept
    """

    def __init__(self, function, inspection, error=None):
        self.function = function
        self.units = inspection.units
        self.loops = inspection.loops
        self.refusals = [row | {"detail": self._stopped(row["name"], row["detail"], row["line"], row["file"])} for row in inspection.refusals]
        for unit in self.units:
            unit.detail = self._stopped(unit.reason, unit.detail, unit.stop_line)
        self.compiled = bool(self.units)
        self.graph = self.units[0].graph if self.units else None
        self.guards = self.units[0].guards if self.units else []
        self.stats = inspection.stats()
        self.fastmath = inspection.fastmath
        self.error = error
        self.goes_on = inspection.goes_on

    def _stopped(self, name, detail, line, file=None):
        """The detail of a reason; of a loop whose body stops also what stops it."""
        why = next((loop.reason for loop in self.loops if loop.line == line and loop.reason and file in (None, loop.file)), None)
        if name != "LOOP_UNDER_WAY" or why is None or why.name in _loops.FOLLOW or why.line == line:
            return detail
        return f"{detail}; line {why.line} stops it: {why.name}{_colon(why.detail)}"

    def __str__(self):
        name = _plain(self.function).__qualname__
        told = {"return"}  # what the loops say, and what needs no word
        for loop in self.loops:
            told.update(exit.text() for exit in loop.exits)
            told.add(f"prange {loop.line if loop.threads else None}")
        if len(self.units) == 1 and self.units[0].kind == "loops":
            lines = self.units[0]._lines(told)
            lines[0] = f"{name}: {lines[0].strip()}"
        elif len(self.units) == 1 and self.units[0].stop is None and self.units[0].start == 0:
            lines = [f"{name}: compiled as one graph of {_count(self.units[0].operations, 'operation')}, {_count(len(self.guards), 'guard')}"]
            lines += [f"  guard: {text}" for text in self.guards]
        elif self.units:
            operations, breaks = sum(unit.operations for unit in self.units), sum(unit.stop is not None for unit in self.units)
            lines = [f"{name}: {_count(len(self.units), 'unit')}, {_count(operations, 'operation')}, {_count(breaks, 'stop')}"]
            lines += [line for unit in self.units for line in unit._lines(told)]
        else:
            lines = [f"{name}: runs in CPython" + "; this was one call, and later ones may compile what stands behind the stops" * self.goes_on]
        lines += _loops.lines(self.loops)
        reasons = {(loop.reason.name, loop.reason.file, loop.reason.line) for loop in self.loops if loop.reason}
        others = [row for row in self.refusals if (row["name"], row["file"], row["line"]) not in reasons]
        for (text, hint), times in collections.Counter(map(_refusal, others)).items():
            lines.append(text + f" ({times} times)" * (times > 1) + hint)
        if self.fastmath and self.compiled:
            lines.append("  fastmath: float arithmetic need not have eager's bits")
        if self.error is not None:
            lines.append(f"  the call raised {type(self.error).__name__}")
        return "\n".join(lines)

    __repr__ = __str__


def explain(function):
    """`explain(f)(*args)` calls a fresh compiled copy of f once and returns an Explanation: what was compiled, unit by unit, and what
    was not, and why. Effects of f happen.

    When f raises, the exception goes on to the caller with the report as a note, and as its attribute `jitney_explanation`.
    Raises TypeError when compile() would return f as it is.
    """
    plain = original(function)
    fastmath = _jitney.inspect(_plain(function))["fastmath"] if is_compiled(_plain(function)) else None

    def run(*args, **kwargs):
        fresh = compile(plain, fastmath=fastmath)
        inner = _plain(fresh)
        if not is_compiled(inner):
            raise TypeError(f"compile returns {function!r} as it is (JITNEY_LOGS=graph_breaks says why); there is nothing to explain")
        try:
            fresh(*args, **kwargs)
        except BaseException as error:
            explanation = Explanation(plain, Inspection(inner), error)
            error.add_note(str(explanation))
            with contextlib.suppress(Exception):  # an exception with slots
                error.jitney_explanation = explanation
            raise
        return Explanation(plain, Inspection(inner))

    return run


def set_logs(file=None, **channels):
    """`set_logs(graph=True, ir=True)`; channels as in JITNEY_LOGS. `file`: a text file to write to; None is standard error."""
    known = {row[0] for row in _jitney.log_rows()}
    if file is not None and not hasattr(file, "write"):
        raise TypeError(f"file is a text file to write to or None, not {file!r}")
    for name in sorted(channels, key=known.__contains__):  # unknown ones first: they raise before anything is changed
        _jitney.log_set(name, channels[name])
    _jitney.log_file(file)
