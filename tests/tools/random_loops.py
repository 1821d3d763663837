"""random_functions.py for functions of loops: the programs of loop_source.py, run, compared and shrunk in the same way, with the same options.

    python tests/tools/random_loops.py --state tests/random/loops.json --seconds 600     goes on where that file stands, and writes the counts back
    python tests/tools/random_loops.py --seed 17 --show                                  the program of a seed

Not compared: which of two equal numbers is which object. Native code that has read a number from a list and gives it back makes another object of the same value."""

import importlib.util
import pathlib
import random
import re
import types

import loop_source
import numpy as np

import jitney

# A copy of the module of our own: what is replaced in it below stays as it is for others.
_spec = importlib.util.spec_from_file_location("random_functions_of_loops", pathlib.Path(__file__).with_name("random_functions.py"))
random_functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(random_functions)
Case = random_functions.Case

EXECUTORS = ("loop",) * 10 + ("graph",) * 3 + ("numpy",) * 6 + ("llvm",)  # LLVM takes ten times as long as all else; what it makes of flows, backend_llvm's own random flows try


def case(seed):
    rng = random.Random(f"loop case {seed}")
    source, calls, functions = loop_source.generate(seed)
    every = rng.choice((0,) * 15 + (2,))
    found = Case(source, calls, rng.choice(EXECUTORS), rng.random() < 0.5, rng.random() < 0.05, every, rng.choice((0, 1, 1, 2)), rng.choice((None, None, None, True, False)), functions)
    return found.change(exits=rng.choice((0, 0, 0, 1, 2, 3, 5, 13, 50)))


class NumberPicture(random_functions.Picture):
    def of(self, value):
        if isinstance(value, np.generic):
            return type(value).__name__, *self.parts(value, type(value))
        if jitney.is_compiled(value) or (type(value) is types.FunctionType and value.__closure__ is None):  # 3.11 has a type of its own for compiled ones
            return "function", value.__qualname__
        picture = super().of(value)
        self.numbers.clear()
        return picture


_script = random_functions.script


def script(case, seed, sentence):
    return _script(case, seed, sentence).replace("from random_functions import", "from random_loops import")


random_functions.case, random_functions.script, random_functions.Picture = case, script, NumberPicture
random_functions.ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
random_functions.__file__, random_functions.__doc__ = __file__, __doc__  # the processes of a long run start this file
here, shrink, run_seed, batches, Summary = (getattr(random_functions, name) for name in ("here", "shrink", "run_seed", "batches", "Summary"))
unlike = random_functions.unlike

if __name__ == "__main__":
    random_functions.main()
