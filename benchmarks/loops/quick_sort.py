"""Quicksort of a list of floats, in place, recursive."""

import random

QUICK, FULL = 500, 40_000


def setup(size):
    draw = random.Random(18)
    return [draw.random() for _ in range(size)], 0, size - 1


def quick_sort(values, low, high):
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        quick_sort(values, low, j)
        low = i
