"""Three bodies under gravity: every coordinate a local variable."""

from math import sqrt

QUICK, FULL = 300, 40_000


def setup(size):
    return size, 0.001


def nbody_scalars(steps, dt):
    m1, m2, m3 = 1.0, 0.5, 0.25
    x1, y1, z1, u1, v1, w1 = 0.0, 0.0, 0.0, 0.0, -0.1, 0.0
    x2, y2, z2, u2, v2, w2 = 1.0, 0.0, 0.1, 0.0, 0.9, 0.1
    x3, y3, z3, u3, v3, w3 = -1.5, 0.3, 0.0, 0.2, -0.7, 0.0
    for _ in range(steps):
        dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
        d2 = dx * dx + dy * dy + dz * dz
        mag = dt / (d2 * sqrt(d2))
        u1 -= dx * m2 * mag
        v1 -= dy * m2 * mag
        w1 -= dz * m2 * mag
        u2 += dx * m1 * mag
        v2 += dy * m1 * mag
        w2 += dz * m1 * mag
        dx, dy, dz = x1 - x3, y1 - y3, z1 - z3
        d2 = dx * dx + dy * dy + dz * dz
        mag = dt / (d2 * sqrt(d2))
        u1 -= dx * m3 * mag
        v1 -= dy * m3 * mag
        w1 -= dz * m3 * mag
        u3 += dx * m1 * mag
        v3 += dy * m1 * mag
        w3 += dz * m1 * mag
        dx, dy, dz = x2 - x3, y2 - y3, z2 - z3
        d2 = dx * dx + dy * dy + dz * dz
        mag = dt / (d2 * sqrt(d2))
        u2 -= dx * m3 * mag
        v2 -= dy * m3 * mag
        w2 -= dz * m3 * mag
        u3 += dx * m2 * mag
        v3 += dy * m2 * mag
        w3 += dz * m2 * mag
        x1 += dt * u1
        y1 += dt * v1
        z1 += dt * w1
        x2 += dt * u2
        y2 += dt * v2
        z2 += dt * w2
        x3 += dt * u3
        y3 += dt * v3
        z3 += dt * w3
    kinetic = m1 * (u1 * u1 + v1 * v1 + w1 * w1) + m2 * (u2 * u2 + v2 * v2 + w2 * w2) + m3 * (u3 * u3 + v3 * v3 + w3 * w3)
    return x1, y1, z1, 0.5 * kinetic
