"""The programs of this folder as modules, and their C twins.

A program is a file: QUICK and FULL, setup(size) → arguments, and a function of the file's name. In a compiled copy of the module every function but setup is compiled, as if
each had been decorated."""

import ctypes
import functools
import importlib.util
import math
import pathlib
import subprocess
import tempfile
import types

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
OTHERS = ("programs", "run")
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in OTHERS)
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


class NoTwin(Exception):
    pass


def load(name, decorate=None):
    """A fresh copy of the program's module."""
    spec = importlib.util.spec_from_file_location(f"loops_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if decorate is not None:
        for key, value in list(vars(module).items()):
            if type(value) is types.FunctionType and value.__module__ == module.__name__ and key != "setup":
                setattr(module, key, decorate(value))
    return module


def main(module):
    return getattr(module, module.__name__.removeprefix("loops_"))


# ---- twins ----


@functools.cache
def library(name):
    """The machine code of twins/NAME.c, compiled now."""
    source = FOLDER / "twins" / f"{name}.c"
    if not source.exists():
        raise NoTwin("no twin: its numbers do not fit machine words")
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/{name}.so"
        try:
            done = subprocess.run(["cc", *FLAGS, "-o", target, str(source), "-lm"], capture_output=True, text=True)
        except FileNotFoundError:
            raise NoTwin("no C compiler") from None
        if done.returncode:
            raise NoTwin(done.stderr)
        return ctypes.CDLL(target)


def _packed(value):
    """A list, tuple or bytes as the array that C sees; an array as it is."""
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)


class Twin:
    """One call of a C twin: the arguments are packed when it is made, unpacked by `result`. `expected`: what the Python function gave, and the arguments that it left."""

    def __init__(self, name, args, expected, left):
        self.args, self.expected, self.left = args, expected, left
        self.function = library(name).twin
        self.arrays, passed = [], []
        for argument in args:
            passed += self.argument(argument)
        self.outs = []
        self.number = isinstance(expected, (int, float, np.generic))
        self.kind = ctypes.c_int64 if isinstance(expected, (int, np.integer)) else ctypes.c_double
        self.own = [i for i, argument in enumerate(left) if argument is expected and expected is not None]
        if not self.number and expected is not None and not self.own:
            for item in expected if isinstance(expected, tuple) else (expected,):
                out = np.zeros_like(_packed(item)) if isinstance(item, (np.ndarray, list)) else np.zeros(1, np.asarray(item).dtype)
                self.outs.append(out)
                passed.append(ctypes.c_void_p(out.ctypes.data))
        self.function.restype = self.kind if self.number else None
        self.call = functools.partial(self.function, *passed)

    def argument(self, value):
        array = None
        if isinstance(value, np.random.Generator):
            return [value.bit_generator.ctypes.bit_generator]
        if isinstance(value, (bytes, list, tuple)):
            array = _packed(value)
        elif isinstance(value, np.ndarray):
            array = value
        elif isinstance(value, types.FunctionType):
            return []
        self.arrays.append(array)
        if array is not None:
            return [ctypes.c_void_p(array.ctypes.data), *map(ctypes.c_int64, array.shape)]
        return [ctypes.c_int64(value) if isinstance(value, int) else ctypes.c_double(value)]

    def difference(self, returned):
        """What tells the numbers of the twin from those of Python, or None."""
        pairs = [(f"argument {i}", self.left[i], array) for i, array in enumerate(self.arrays) if array is not None]
        if self.number:
            pairs.append(("result", self.expected, returned))
        elif self.outs:
            pairs += zip(("result",) * len(self.outs), self.expected if isinstance(self.expected, tuple) else (self.expected,), self.outs)
        for what, eager, ours in pairs:
            eager = _packed(eager)
            if eager.astype(ours.dtype if isinstance(ours, np.ndarray) else eager.dtype).tobytes() != np.asarray(ours, eager.dtype).tobytes():
                return f"C twin, {what}"
        return None


def geometric_mean(numbers):
    numbers = list(numbers)
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else None
