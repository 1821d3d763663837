"""The sieve of Eratosthenes on an array of bools; counts."""

import numpy as np

QUICK, FULL = 3_000, 300_000


def setup(size):
    return (size,)


def sieve_array(n):
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    count = 0
    for k in range(n + 1):
        if prime[k]:
            count += 1
    return count
