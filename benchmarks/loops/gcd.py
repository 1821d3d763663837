"""Euclid's algorithm on all pairs: how many are coprime."""

QUICK, FULL = 25, 500


def setup(size):
    return (size,)


def gcd(n):
    coprime = 0
    for a in range(1, n):
        for b in range(1, n):
            x, y = a, b
            while y:
                x, y = y, x % y
            if x == 1:
                coprime += 1
    return coprime
