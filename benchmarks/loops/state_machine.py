"""A table-driven automaton over an array of small ints: counts numbers, words and errors."""

import numpy as np

QUICK, FULL = 3_000, 250_000


def setup(size):
    symbols = np.random.default_rng(29).integers(0, 4, size, dtype=np.int32)
    table = np.array([[0, 1, 2, 3], [0, 1, 3, 3], [0, 2, 2, 3], [0, 3, 3, 3]], dtype=np.int32)
    return symbols, table


def state_machine(symbols, table):
    state = 0
    numbers = words = errors = 0
    for symbol in symbols:
        new = table[state, symbol]
        if new == 0:
            if state == 1:
                numbers += 1
            elif state == 2:
                words += 1
            elif state == 3:
                errors += 1
        state = new
    return numbers, words, errors
