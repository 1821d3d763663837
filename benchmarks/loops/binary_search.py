"""Many binary searches in a sorted list."""

import random

QUICK, FULL = 200, 60_000


def setup(size):
    draw = random.Random(19)
    return sorted(draw.randrange(10**7) for _ in range(size)), [draw.randrange(10**7) for _ in range(size)]


def search(values, x):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def binary_search(values, wanted):
    total = 0
    found = 0
    for x in wanted:
        at = search(values, x)
        total += at
        if at < len(values) and values[at] == x:
            found += 1
    return total, found
