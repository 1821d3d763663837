"""An exponential moving average of an array, and its crossings."""

import numpy as np

QUICK, FULL = 2_000, 200_000


def setup(size):
    return np.cumsum(np.random.default_rng(23).standard_normal(size)), 0.05


def ema(prices, alpha):
    out = np.zeros(prices.shape[0])
    value = prices[0]
    above = False
    crossings = 0
    for i in range(len(prices)):
        value = alpha * prices[i] + (1.0 - alpha) * value
        out[i] = value
        now = prices[i] > value
        if now and not above:
            crossings += 1
        above = now
    return out, crossings
