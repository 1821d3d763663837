"""A moving average with a window, its sum kept up to date."""

import numpy as np

QUICK, FULL = 2_000, 150_000


def setup(size):
    return np.random.default_rng(16).standard_normal(size), 25


def moving_average(values, window):
    n = values.size
    out = np.zeros(n - window + 1)
    total = 0.0
    for i in range(n):
        total += values[i]
        if i >= window:
            total -= values[i - window]
        if i >= window - 1:
            out[i - window + 1] = total / window
    return out
