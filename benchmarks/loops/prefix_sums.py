"""Prefix sums of an array, and of a list of ints in a second one."""

import numpy as np

QUICK, FULL = 2_000, 200_000


def setup(size):
    rng = np.random.default_rng(14)
    return rng.standard_normal(size), np.zeros(size), rng.integers(-1000, 1000, size).tolist()


def prefix_sums(values, sums, numbers):
    total = 0.0
    for i in range(len(values)):
        total += values[i]
        sums[i] = total
    running = []
    count = 0
    for x in numbers:
        count += x
        running.append(count)
    return running
