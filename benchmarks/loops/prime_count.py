"""Counts primes by trial division."""

QUICK, FULL = 1_200, 60_000


def setup(size):
    return (size,)


def is_prime(n):
    if n < 2:
        return False
    if n % 2 == 0:
        return n == 2
    d = 3
    while d * d <= n:
        if n % d == 0:
            return False
        d += 2
    return True


def prime_count(limit):
    count = 0
    for n in range(limit):
        if is_prime(n):
            count += 1
    return count
