"""A factorial by multiplication, far beyond 64 bits."""

BIG = True
QUICK, FULL = 100, 5_000


def setup(size):
    return (size,)


def factorial_big(n):
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product
