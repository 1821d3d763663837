"""A chain around exp, which is NumPy's own inner loop on both sides."""

import numpy as np

from common import normal, positive, ratio


def bell(a, b, c):
    return np.exp(-(a * a) / b) * c


def rows(seconds):
    n = 1_000_000
    yield ratio("np.exp(-(a*a)/b)*c, n = 1e6", bell, [normal(n), positive(n), normal(n, seed=2)], 1.4, seconds)
