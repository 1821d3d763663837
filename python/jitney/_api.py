"""The functions of the package: thin wrappers around _jitney."""

import functools
import types

from . import _jitney
from ._graph import Graph

is_compiled = _jitney.is_compiled
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


def compile(function=None, *, backend="llvm", fullgraph=False, dynamic=None, fastmath=False, threads=None, inplace=False):
    """Returns a compiled version of `function`; `function` itself stays as it is. Also a decorator, with or without arguments.

    function   a function, lambda, bound method, staticmethod, classmethod or functools.partial; other callables
               (builtins, classes, generator and coroutine functions) come back as they are
    backend    "llvm", a registered name, or a callable (graph, example_inputs) -> callable
    fullgraph  a call that cannot be compiled raises RuntimeError with place and reason instead of running in CPython
    dynamic    True: Python ints are symbolic from the start; False: never; None: from their second value on
    inplace    the function object itself is accelerated, also for those who hold it already (3.12 and later)

    Raises TypeError when `function` is not callable, ValueError for an unknown backend or value of dynamic.
    """
    if fastmath:
        raise NotImplementedError("fastmath=True is not available: every result has eager's bits")
    if threads not in (None, 1):
        raise NotImplementedError("threads: compiled code runs on one thread")
    if dynamic not in (None, True, False):
        raise ValueError(f"dynamic is True, False or None, not {dynamic!r}")
    options = {"backend": _resolve_backend(backend), "fullgraph": fullgraph, "dynamic": dynamic, "inplace": inplace}
    if function is None:
        return lambda f: _compile(f, options)
    return _compile(function, options)


def _compile(f, options):
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(_compile(f.__func__, options))
    if isinstance(f, types.MethodType):
        return types.MethodType(_compile(f.__func__, options), f.__self__)
    if isinstance(f, functools.partial):
        return type(f)(_compile(f.func, options), *f.args, **f.keywords)
    if not callable(f):
        raise TypeError(f"jitney.compile takes a function, not {type(f).__name__}: {f!r}")
    return _jitney.compile(f, **options)


def original(f):
    """The same kind of object as `f` around the function that was compiled."""
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(original(f.__func__))
    if isinstance(f, types.MethodType):
        return types.MethodType(original(f.__func__), f.__self__)
    if isinstance(f, functools.partial):
        return type(f)(original(f.func), *f.args, **f.keywords)
    return _jitney.original(f)


def disable(function):
    """Returns `function` marked so that jitney leaves it to CPython, also where a compiled function calls it."""
    if is_compiled(function):
        compiled, function = function, _jitney.original(function)
        _jitney.uninstall(compiled)
    function._jitney_disable = True
    return function


def reset(function=None):
    """Forgets compiled entries, refusals and statistics of `function`, or of every compiled function."""
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
            raise IndexError(f"{self._function.__qualname__} has {len(entries)} compiled entries; call it first, or see explain()")
        return entries[entry]

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

    def stats(self):
        """Dict of counters; `compile_ms` by stage."""
        return _jitney.stats(self._function)

    @property
    def refusals(self):
        """List of dicts: name, what, detail, hint, file, line."""
        return self._data["refusals"] or []


def inspect(function):
    """Graph, bytecode, guards, IR and statistics of a compiled function. Raises TypeError for another object."""
    return Inspection(function)


class Explanation:
    """What would be compiled of one call, and what not and why. `str()` is a report."""

    def __init__(self, function, inspection):
        self.function = function
        self.refusals = inspection.refusals
        self.compiled = len(inspection) > 0
        self.graph = inspection.graph() if self.compiled else None
        self.guards = inspection.guards() if self.compiled else []
        self.stats = inspection.stats()

    def __str__(self):
        name = _plain(self.function).__qualname__
        if self.compiled:
            calls = sum(node.op == "call" for node in self.graph.nodes)
            lines = [f"{name}: compiled as one graph of {calls} operations, {len(self.guards)} guards"]
            lines += [f"  guard: {text}" for text in self.guards]
            return "\n".join(lines)
        lines = [f"{name}: runs in CPython"]
        for row in self.refusals:
            detail = f": {row['detail']}" if row["detail"] else ""
            lines.append(f"  {row['file']}:{row['line']}: {row['name']}: {row['what']}{detail}")
            if row["hint"]:
                lines.append(f"    hint: {row['hint']}")
        return "\n".join(lines)

    __repr__ = __str__


def explain(function):
    """`explain(f)(*args)` calls a fresh compiled copy of f once and reports what was compiled and what was not, and why."""
    plain = original(function)

    def run(*args, **kwargs):
        fresh = compile(plain)
        inner = _plain(fresh)
        if not is_compiled(inner):
            raise TypeError(f"compile returns {function!r} as it is (JITNEY_LOGS=graph_breaks says why); there is nothing to explain")
        fresh(*args, **kwargs)
        return Explanation(plain, Inspection(inner))

    return run


def set_logs(file=None, **channels):
    """`set_logs(graph=True, ir=True)`; channels as in JITNEY_LOGS. `file`: a text file to write to; None is standard error."""
    for name, on in channels.items():
        _jitney.log_set(name, on)
    _jitney.log_file(file)
