"""The Levenshtein distance of two texts of bytes, two rows at a time."""

import random

QUICK, FULL = 50, 600


def setup(size):
    draw = random.Random(6)
    return bytes(draw.choices(b"acgt", k=size)), bytes(draw.choices(b"acgt", k=size + 7))


def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        current = [i] + [0] * len(b)
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
        previous = current
    return previous[len(b)]
