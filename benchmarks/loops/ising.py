"""The Ising model on a torus, Metropolis steps with NumPy's generator."""

from math import exp

import numpy as np

QUICK, FULL = 10, 60


def setup(size):
    rng = np.random.default_rng(27)
    return np.where(rng.random((size, size)) < 0.5, 1, -1), 0.44, 10, rng


def ising(spins, beta, sweeps, rng):
    n, m = spins.shape
    accepted = 0
    for _ in range(sweeps):
        for i in range(n):
            for j in range(m):
                near = spins[(i + 1) % n, j] + spins[(i - 1) % n, j] + spins[i, (j + 1) % m] + spins[i, (j - 1) % m]
                change = 2 * spins[i, j] * near
                if change <= 0 or rng.random() < exp(-beta * change):
                    spins[i, j] = -spins[i, j]
                    accepted += 1
    return accepted
