"""python -m jitney run [--summary] [--include NAME,NAME] SCRIPT [ARGS] | -m MODULE [ARGS] | -c CODE [ARGS]

Runs a program as `python` itself would - sys.argv, __main__, sys.path[0], exit codes, tracebacks - in whole-program mode.
What a program can see: sys.orig_argv, loaded modules and gc.get_freeze_count()."""

import gc
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types

from . import _jitney

USAGE = "usage: python -m jitney run [--summary] [--include NAME,NAME] (SCRIPT | - | -m MODULE | -c CODE) [ARGS]"
HELP = f"""{USAGE}

Runs a program as python would, and compiles its hot functions where they are. A function stays compiled only if timed calls show
that it gains from it.

  --summary            say at the end, on stderr, how many functions were hot, and which stayed compiled
  --include NAME,NAME  modules and packages of the standard library and site-packages, or folders, that shall be compiled as well;
                       they are skipped otherwise"""


def _main_module(**attributes):
    """A fresh __main__; ours must stay alive as its functions are running."""
    global _ours
    _ours = sys.modules["__main__"]
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__ if isinstance(__builtins__, types.ModuleType) else sys.modules["builtins"], **attributes)
    module.__dict__.setdefault("__annotations__", {})
    sys.modules["__main__"] = module
    return module.__dict__


def _set_path(first):
    """sys.path[0] is the working directory now, as `python -m` puts it there; with -P or -I nobody may put anything there."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = first


def _run_code(source, arguments):
    sys.argv = ["-c", *arguments]
    _set_path("")
    namespace = _main_module(__loader__=importlib.machinery.BuiltinImporter)
    if sys.version_info >= (3, 13):  # tracebacks show the source of -c
        import linecache

        linecache.cache["<string>"] = (len(source), None, source.splitlines(True), "<string>")
    return _jitney.run_text(source, namespace)


def _run_module(name, arguments):
    sys.argv = ["-m", *arguments]
    _main_module(__loader__=importlib.machinery.BuiltinImporter)
    return _jitney.run_call(runpy._run_module_as_main, (name,))


def _compiled(path):
    """The code of a .pyc file, whatever its name; None: it is a source file."""
    with io.open_code(path) as file:
        code = pkgutil.read_code(file)
    if code is None and path.endswith(".pyc"):
        print("RuntimeError: Bad magic number in .pyc file", file=sys.stderr)
        raise SystemExit(1)
    return code


def _run_script(path, arguments):
    sys.argv = [path, *arguments]
    if path == "-":
        _set_path("")
        namespace = _main_module(__file__="<stdin>", __cached__=None, __loader__=importlib.machinery.BuiltinImporter)
        return _jitney.run_file("-", "<stdin>", namespace)
    path = os.getcwd() if path == "." else os.path.join(os.getcwd(), path)
    if pkgutil.get_importer(path) is not None and (os.path.isdir(path) or path.endswith((".zip", ".pyz", ".whl", ".egg"))):
        _set_path(path)
        _main_module(__loader__=importlib.machinery.BuiltinImporter)
        return _jitney.run_call(runpy._run_module_as_main, ("__main__", False))
    try:
        code = _compiled(path)
    except OSError as error:
        print(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    _set_path(os.path.dirname(os.path.realpath(path)))
    kind = importlib.machinery.SourceFileLoader if code is None else importlib.machinery.SourcelessFileLoader
    namespace = _main_module(__file__=path, __cached__=None, __loader__=kind("__main__", path))
    return _jitney.run_file(path, path, namespace) if code is None else _jitney.run_code(code, namespace)


def _summary(enabled):
    stats = enabled.stats
    print(f"jitney: {stats['seen']} functions seen, {stats['found']} hot, {stats['kept']} stayed compiled, "
          f"{stats['left']} gained nothing", file=sys.stderr)  # fmt: skip
    for function in stats["functions"]:
        print(f"jitney:   {function.__module__}.{function.__qualname__}", file=sys.stderr)


def _parse(argv):
    """(runner, target, its arguments, summary, include)"""
    summary, include = False, ()
    while argv:
        option = argv.pop(0)
        if option == "--summary":
            summary = True
        elif option == "--include" and argv:
            include = tuple(argv.pop(0).split(","))
        elif option in ("-m", "-c") and argv:
            return (_run_module if option == "-m" else _run_code), argv.pop(0), argv, summary, include
        elif option in ("-h", "--help"):
            print(HELP)
            raise SystemExit(0)
        elif option.startswith("-") and option != "-":
            break
        else:
            return _run_script, option, argv, summary, include
    print(USAGE, file=sys.stderr)
    raise SystemExit(2)


def main(argv):
    import jitney

    runner, target, arguments, summary, include = _parse(list(argv))
    enabled = jitney.enable(include=include)
    gc.freeze()  # the program's own garbage is all that is looked through, not NumPy's modules
    if summary:
        import atexit

        atexit.register(_summary, enabled)
    return runner(target, arguments)
