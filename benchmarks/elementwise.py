"""A chain of five element-wise operations: what fusing them saves, in the cache, at its edge and in memory."""

from common import normal, positive, ratio


def chain(a, b, c, d, e, f):
    return (a * b + c) * d - e / f


def rows(seconds):
    for n, target in ((1_000, 3.5), (1_000_000, 2.5), (10_000_000, 1.8)):
        args = [normal(n, seed=i) for i in range(5)] + [positive(n)]
        yield ratio(f"(a*b+c)*d-e/f, n = {n:.0e}", chain, args, target, seconds)
