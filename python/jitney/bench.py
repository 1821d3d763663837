"""Times two functions against each other honestly: in one process, in turns, on the same arguments, equality checked first.

One sample is a batch of calls long enough for the clock (at least `BATCH` seconds). Eager and compiled batches follow each
other, so that a machine that slows down slows both; the ratio is taken pair by pair and given as median and quartiles.
"""

import gc
import statistics
from dataclasses import asdict, dataclass
from itertools import repeat
from time import perf_counter

from jitney._api import original
from jitney.testing import differs, fresh, outcome, outcome_difference

BATCH = 2e-3


@dataclass
class Spread:
    """Median and quartiles."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, samples):
        if len(samples) < 2:
            return cls(samples[0], samples[0], samples[0])
        return cls(*statistics.quantiles(samples, n=4, method="inclusive"))


@dataclass
class Comparison:
    name: str
    eager: Spread  # seconds a call
    compiled: Spread
    ratio: Spread  # eager / compiled
    first_call: float | None  # seconds of compile(f) and the first call of what it gave
    difference: str | None  # what tells the results apart; None when nothing does
    samples: int

    @property
    def break_even(self):
        """Calls until the first one is paid back; None when it never is."""
        gain = self.eager.median - self.compiled.median
        if self.first_call is None or gain <= 0:
            return None
        return max(0, -int(-(self.first_call - self.eager.median) // gain))

    def as_dict(self):
        return asdict(self) | {"break_even": self.break_even, "identical": self.difference is None}

    def __str__(self):
        lines = [
            f"{self.name}",
            f"  eager     {duration(self.eager.median):>10}   ({duration(self.eager.low)} to {duration(self.eager.high)})",
            f"  compiled  {duration(self.compiled.median):>10}   ({duration(self.compiled.low)} to {duration(self.compiled.high)})",
            f"  ratio     {self.ratio.median:10.2f}   ({self.ratio.low:.2f} to {self.ratio.high:.2f}, {self.samples} pairs)",
        ]
        if self.first_call is not None:
            back = self.break_even
            lines.append(f"  first call {duration(self.first_call):>9}   " + (f"paid back after {back} calls" if back is not None else "not paid back"))
        lines.append("  identical: yes" if self.difference is None else f"  identical: NO, {self.difference}")
        return "\n".join(lines)


def duration(seconds):
    """Three digits and a unit: 1.23 ms."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if abs(seconds) * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def batches(function, args, kwargs=None):
    """batch(n) → seconds of n calls. The call is spelled out: *args would cost as much as a small call itself."""
    names = [f"a{i}" for i in range(len(args))]
    kwargs = kwargs or {}
    call = ", ".join(names + [f"{key}=k_{key}" for key in kwargs])
    parameters = ", ".join(["function", *names, *(f"k_{key}" for key in kwargs)])
    source = (
        f"def make({parameters}):\n"
        f"    def batch(n):\n"
        f"        times = repeat(None, n)\n"
        f"        start = perf_counter()\n"
        f"        for _ in times:\n"
        f"            function({call})\n"
        f"        return perf_counter() - start\n"
        f"    return batch\n"
    )
    space = {"repeat": repeat, "perf_counter": perf_counter}
    exec(source, space)
    return space["make"](function, *args, **{f"k_{key}": value for key, value in kwargs.items()})


def alternate(*bodies, seconds=1.0, batch=BATCH, pairs=400):
    """Runs the bodies (n → seconds of n calls) in turns; a list of seconds per call for each. At least five rounds."""
    counts = []
    for body in bodies:  # the first call of each warms up; then the count that fills a batch
        n, took = 1, body(1)
        while (took := body(n)) < batch and n < 10_000_000:
            n = max(n + 1, min(n * 10, int(n * batch * 1.2 / max(took, 1e-9))))
        counts.append(n)
    samples = [[] for _ in bodies]
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        while len(samples[0]) < pairs and (len(samples[0]) < 5 or perf_counter() - start < seconds):
            for i, body in enumerate(bodies):
                samples[i].append(body(counts[i]) / counts[i])
    finally:
        if collecting:
            gc.enable()
    return samples


def summarise(name, eager, compiled, first_call=None, difference=None):
    """A Comparison of two lists of seconds per call, sample by sample."""
    ratios = [e / c for e, c in zip(eager, compiled, strict=True)]
    return Comparison(name, Spread.of(eager), Spread.of(compiled), Spread.of(ratios), first_call, difference, len(ratios))


def compare(function, args=(), kwargs=None, *, name=None, compile=None, seconds=1.0):
    """Compiles `function`, checks that nothing but the time differs, and times both on `args`.

    Of a compiled function it takes the original. A function that writes into its arguments goes on writing into the same
    ones, in both."""
    kwargs = kwargs or {}
    function = original(function)
    name = name or getattr(function, "__qualname__", repr(function))
    if compile is None:
        from jitney import compile
    own_args, own_kwargs = fresh((args, kwargs))
    expected = outcome(function, *own_args, **own_kwargs)
    own_args, own_kwargs = fresh((args, kwargs))
    start = perf_counter()
    compiled = compile(function)
    first = outcome(compiled, *own_args, **own_kwargs)
    first_call = perf_counter() - start
    found = outcome_difference(expected, first) or differs(function, compiled, *args, **kwargs)
    if expected.exception is not None:
        raise RuntimeError(f"{name} raises {expected.exception[0]}: {expected.exception[1]}")
    eager, fast = alternate(batches(function, args, kwargs), batches(compiled, args, kwargs), seconds=seconds)
    return summarise(name, eager, fast, first_call, found)
