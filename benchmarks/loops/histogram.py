"""A histogram with equal bins, out-of-range values counted apart."""

import numpy as np

QUICK, FULL = 2_000, 150_000


def setup(size):
    return np.random.default_rng(13).standard_normal(size), -3.0, 3.0, 50


def histogram(values, low, high, bins):
    counts = np.zeros(bins, dtype=np.int64)
    outside = 0
    scale = bins / (high - low)
    for x in values:
        if low <= x < high:
            counts[int((x - low) * scale)] += 1
        else:
            outside += 1
    return counts, outside
