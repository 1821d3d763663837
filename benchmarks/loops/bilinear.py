"""An image enlarged with bilinear interpolation."""

import numpy as np

QUICK, FULL = 16, 110


def setup(size):
    return np.random.default_rng(26).random((size, size)).astype(np.float32), size * 2 - 3, size * 2 + 1


def bilinear(image, height, width):
    rows, columns = image.shape
    out = np.zeros((height, width), dtype=np.float32)
    for y in range(height):
        fy = y * (rows - 1) / (height - 1)
        y0 = int(fy)
        y1 = min(y0 + 1, rows - 1)
        wy = fy - y0
        for x in range(width):
            fx = x * (columns - 1) / (width - 1)
            x0 = int(fx)
            x1 = min(x0 + 1, columns - 1)
            wx = fx - x0
            top = image[y0, x0] * (1.0 - wx) + image[y0, x1] * wx
            bottom = image[y1, x0] * (1.0 - wx) + image[y1, x1] * wx
            out[y, x] = top * (1.0 - wy) + bottom * wy
    return out
