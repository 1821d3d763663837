"""A chain around exp: NumPy's own function on both sides, called for eight numbers at a time where the CPU has AVX-512."""

import numpy as np

from common import apart, normal, positive, ratio


def bell(a, b, c):
    return np.exp(-(a * a) / b) * c


def measure(n, target, seconds, note=""):
    return ratio(f"np.exp(-(a*a)/b)*c, n = {n:.0e}{note}", bell, [normal(n), positive(n), normal(n, seed=2)], target, seconds)


def has_avx512():
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return features.get("AVX512_SKX", False)


def rows(seconds):
    target = 2.5 if has_avx512() else 1.4
    yield apart(measure, 1_000_000, target, seconds)
    yield apart(measure, 1_000_000, target, seconds, ", recycled memory", recycles=True)
