"""The sieve of Eratosthenes on a list of bools; the primes as a list."""

QUICK, FULL = 3_000, 500_000


def setup(size):
    return (size,)


def sieve_list(n):
    composite = [False] * (n + 1)
    primes = []
    for i in range(2, n + 1):
        if not composite[i]:
            primes.append(i)
            for j in range(i * i, n + 1, i):
                composite[j] = True
    return primes
