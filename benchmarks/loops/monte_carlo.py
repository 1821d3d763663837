"""Pi by throwing darts: random.random()."""

import random

QUICK, FULL = 3_000, 300_000


def setup(size):
    return size, 20


def monte_carlo(n, seed):
    random.seed(seed)
    inside = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n
