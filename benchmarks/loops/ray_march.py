"""Spheres seen by marching rays through their distance field."""

from math import sqrt

import numpy as np

QUICK, FULL = 10, 70


def setup(size):
    return size, size, ((0.0, 0.0, 3.0, 1.0), (1.2, 0.4, 2.5, 0.5), (-1.0, -0.6, 2.2, 0.4))


def distance(x, y, z, spheres):
    least = 1e9
    for sx, sy, sz, r in spheres:
        dx, dy, dz = x - sx, y - sy, z - sz
        d = sqrt(dx * dx + dy * dy + dz * dz) - r
        if d < least:
            least = d
    return least


def ray_march(width, height, spheres):
    image = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            dx = (column + 0.5) / width * 2.0 - 1.0
            dy = (row + 0.5) / height * 2.0 - 1.0
            norm = sqrt(dx * dx + dy * dy + 1.0)
            dx, dy, dz = dx / norm, dy / norm, 1.0 / norm
            t = 0.0
            for _ in range(60):
                d = distance(t * dx, t * dy, t * dz, spheres)
                if d < 1e-4:
                    image[row, column] = 1.0 / (1.0 + t)
                    break
                t += d
                if t > 10.0:
                    break
    return image
