"""The log-likelihood of a GARCH(1,1) model."""

import math

import numpy as np

QUICK, FULL = 2_000, 200_000


def setup(size):
    return 0.01 * np.random.default_rng(24).standard_normal(size), 1e-6, 0.08, 0.9


def garch(returns, omega, alpha, beta):
    variance = omega / (1.0 - alpha - beta)
    total = 0.0
    for r in returns:
        r = float(r)
        total -= 0.5 * (math.log(2.0 * math.pi) + math.log(variance) + r * r / variance)
        variance = omega + alpha * r * r + beta * variance
    return total
