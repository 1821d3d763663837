"""The Mandelbrot set with complex numbers."""

import numpy as np

QUICK, FULL = 20, 140


def setup(size):
    return size, size, 60


def mandelbrot_complex(width, height, limit):
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            c = complex(-2.0 + 3.0 * column / width, -1.5 + 3.0 * row / height)
            z = 0j
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            counts[row, column] = n
    return counts
