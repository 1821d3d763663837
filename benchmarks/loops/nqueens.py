"""The number of ways to place queens: recursive, with sets of bits."""

QUICK, FULL = 6, 11


def setup(size):
    return (1 << size) - 1, 0, 0, 0


def nqueens(full, columns, left, right):
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += nqueens(full, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count
