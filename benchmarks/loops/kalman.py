"""A Kalman filter of position and speed, on a list of measurements."""

import random

QUICK, FULL = 800, 120_000


def setup(size):
    draw = random.Random(25)
    return [0.1 * i + draw.gauss(0.0, 1.0) for i in range(size)], 0.1, 0.001, 1.0


def kalman(measured, dt, q, r):
    x, v = 0.0, 0.0
    p00, p01, p11 = 1.0, 0.0, 1.0
    out = []
    for z in measured:
        x += dt * v
        p00 += dt * (2.0 * p01 + dt * p11) + q
        p01 += dt * p11
        p11 += q
        s = p00 + r
        k0, k1 = p00 / s, p01 / s
        residual = z - x
        x += k0 * residual
        v += k1 * residual
        p11 -= k1 * p01
        p01 *= 1.0 - k0
        p00 *= 1.0 - k0
        out.append(x)
    return out
