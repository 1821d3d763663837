"""A chain of five element-wise operations: what fusing them saves, in the cache, at its edge and in memory."""

from common import apart, normal, positive, ratio


def chain(a, b, c, d, e, f):
    return (a * b + c) * d - e / f


def measure(n, target, seconds, note=""):
    return ratio(f"(a*b+c)*d-e/f, n = {n:.0e}{note}", chain, [normal(n, seed=i) for i in range(5)] + [positive(n)], target, seconds)


def rows(seconds):
    for n, target in ((1_000, 3.5), (1_000_000, 2.5), (10_000_000, 1.8)):
        yield apart(measure, n, target, seconds)
    # No page faults on either side: then NumPy moves 136 bytes an element and the loop 56, and memory allows a ratio of 2.43.
    yield apart(measure, 1_000_000, None, seconds, ", recycled memory", recycles=True)
