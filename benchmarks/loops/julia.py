"""A Julia set, smooth colours into an array that the caller gives."""

import math

import numpy as np

QUICK, FULL = 20, 130


def setup(size):
    return -0.8, 0.156, 80, np.zeros((size, size))


def julia(re, im, limit, image):
    c = complex(re, im)
    height, width = image.shape
    for row in range(height):
        for column in range(width):
            z = complex(3.0 * column / width - 1.5, 2.0 * row / height - 1.0)
            for n in range(limit):
                size = z.real * z.real + z.imag * z.imag
                if size > 4.0:
                    image[row, column] = n + 1 - math.log(math.log(size) / 2.0) / math.log(2.0)
                    break
                z = z * z + c
            else:
                image[row, column] = 0.0
