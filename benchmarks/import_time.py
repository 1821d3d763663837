"""`import jitney` on top of `import numpy`, in fresh processes, byte-compiled as an installed package is; LLVM must not be loaded by it."""

import os
import subprocess
import sys
import tempfile

from common import Row
from jitney.bench import Spread

PROGRAM = """
import numpy
from time import perf_counter
start = perf_counter()
import jitney
print(perf_counter() - start, "_backend_llvm" in open("/proc/self/maps").read())
"""


def rows(seconds):
    took, loaded = [], set()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for k in range(1 + max(5, int(seconds * 10))):  # the first one compiles
            done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment)
            answer = done.stdout.split()
            if k > 0:
                took.append(float(answer[0]) * 1e3)
            loaded.add(answer[1])
    problem = None if loaded == {"False"} else "LLVM is loaded by the import"
    yield Row("import jitney, after import numpy", Spread.of(took), "ms", 15, problem)
