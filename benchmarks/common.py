"""What the benchmark files share: one row per measurement, and the comparison that most rows are."""

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

import numpy as np

from jitney.bench import Spread, compare


@dataclass
class Row:
    """One measured number. `target` is what it should reach (ratios: at least) or stay below (times)."""

    name: str
    spread: Spread
    unit: str  # "x" for a ratio NumPy time / jitney time, else a unit of time
    target: float | None = None
    difference: str | None = None  # what tells the results apart; None when nothing does
    details: dict = field(default_factory=dict)

    @property
    def reached(self):
        if self.target is None:
            return None
        return self.spread.median >= self.target if self.unit == "x" else self.spread.median < self.target

    def __str__(self):
        s = self.spread
        text = f"{self.name:<46} {s.median:8.3g} {self.unit:<3} ({s.low:.3g} to {s.high:.3g})"
        if self.target is not None:
            text += f"   {'at least' if self.unit == 'x' else 'below'} {self.target:g}: {'yes' if self.reached else 'NO'}"
        return text + ("" if self.difference is None else f"   DIFFERS: {self.difference}")


def ratio(name, function, args, target=None, seconds=1.0):
    found = compare(function, args, name=name, seconds=seconds)
    return Row(name, found.ratio, "x", target, found.difference, found.as_dict())


def apart(function, *args, recycles=False):
    """function(*args) in a process of its own, where every array of more than 128 KiB is fresh memory from the system, as in a program
    that begins; or, when it `recycles`, memory of an array that was freed before, as in one that has run for long. (Left alone, the C
    library comes to either state by chance.) Page faults make eager code up to twice as slow; jitney keeps its own free blocks."""
    limits = {"MALLOC_MMAP_THRESHOLD_": 1 << 30, "MALLOC_TRIM_THRESHOLD_": 1 << 40} if recycles else {"MALLOC_MMAP_THRESHOLD_": 1 << 17}
    os.environ.update({name: str(value) for name, value in limits.items()})
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(function, *args).result()
    finally:
        for name in limits:
            del os.environ[name]


def normal(*shape, dtype=np.float64, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def positive(*shape, dtype=np.float64, seed=1):
    return (np.random.default_rng(seed).random(shape) + 0.5).astype(dtype)
