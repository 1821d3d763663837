"""Conway's game of life on a torus of bytes."""

import numpy as np

QUICK, FULL = 16, 70


def setup(size):
    return (np.random.default_rng(5).random((size, size + 3)) < 0.4).astype(np.uint8), 8


def life(cells, generations):
    rows, columns = cells.shape
    new = np.zeros_like(cells)
    for _ in range(generations):
        for i in range(rows):
            up, down = (i - 1) % rows, (i + 1) % rows
            for j in range(columns):
                left, right = (j - 1) % columns, (j + 1) % columns
                near = cells[up, left] + cells[up, j] + cells[up, right] + cells[i, left] + cells[i, right]
                near += cells[down, left] + cells[down, j] + cells[down, right]
                if near == 3 or (near == 2 and cells[i, j] == 1):
                    new[i, j] = 1
                else:
                    new[i, j] = 0
        cells, new = new, cells
    return cells
