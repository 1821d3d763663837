"""Fibonacci numbers by the definition."""

QUICK, FULL = 14, 28


def setup(size):
    return (size,)


def fib_recursive(n):
    if n < 2:
        return n
    return fib_recursive(n - 1) + fib_recursive(n - 2)
