"""Mean, variance, least and greatest of a stream, in one pass (Welford)."""

import random
from math import sqrt

QUICK, FULL = 2_000, 200_000


def setup(size):
    draw = random.Random(15)
    return ([draw.gauss(10.0, 2.0) for _ in range(size)],)


def running_stats(values):
    n = 0
    mean = m2 = 0.0
    least = greatest = None
    for x in values:
        n += 1
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
        if least is None or x < least:
            least = x
        if greatest is None or x > greatest:
            greatest = x
    return n, mean, sqrt(m2 / (n - 1)), least, greatest
