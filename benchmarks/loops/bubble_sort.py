"""Bubble sort of a list of ints, in place."""

import random

QUICK, FULL = 70, 1_000


def setup(size):
    draw = random.Random(17)
    return ([draw.randrange(10**6) for _ in range(size)],)


def bubble_sort(values):
    n = len(values)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
                swapped = True
        if not swapped:
            break
