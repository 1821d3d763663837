"""Fibonacci numbers one after the other, far beyond 64 bits."""

BIG = True
QUICK, FULL = 300, 30_000


def setup(size):
    return (size,)


def fib_big(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
