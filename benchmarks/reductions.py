"""Reductions fused with what feeds them, in NumPy's order of summation."""

from common import normal, ratio


def squares(a, b):
    return ((a - b) ** 2).sum()


def mean_columns(a, b):
    return (a * b).mean(axis=0)


def mean_rows(a, b):
    return (a * b).mean(axis=1)


def rows(seconds):
    vectors = normal(1_000_000), normal(1_000_000, seed=2)
    squared = normal(1000, 1000), normal(1000, 1000, seed=2)
    yield ratio("((a-b)**2).sum(), n = 1e6", squares, vectors, 2.0, seconds)
    yield ratio("(a*b).mean(axis=0), 1000 x 1000", mean_columns, squared, 1.5, seconds)
    yield ratio("(a*b).mean(axis=1), 1000 x 1000", mean_rows, squared, 1.5, seconds)
